// SPDX-License-Identifier: MIT
// headroom file info|verify|repair FILE: what is in a file_vector's file, whether it is whole, and mending it. Nothing here
// needs to know the elements' type.
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <headroom/detail/file/inspect.hpp>

#include "printable.hpp"
#include "verb.hpp"

namespace headroom::tools { namespace {

using detail::file_report;

int info(const std::string& path) {
    const file_report report = detail::inspect_file(path);
    if (report.fault != detail::file_fault::none) {
        std::fprintf(stderr, "%s\n", printable(report.what).c_str());
        return 1;
    }
    const detail::file_record& newest = *report.newest();
    std::printf("elements:   %" PRIu64 " committed", newest.size);
    if (report.being_written) std::printf(", %" PRIu64 " published by a process that writes now", report.published);
    std::printf("\ntype:       %s, %" PRIu64 " bytes, aligned to %" PRIu64 "\n", printable(report.elements.tag.data()).c_str(),
                report.elements.size, report.elements.alignment);
    std::printf("commits:    %" PRIu64 "\n", newest.generation - 1);
    std::printf("file:       %" PRIu64 " bytes, room for %" PRIu64 " elements\n", report.file_bytes,
                (report.file_bytes - detail::header_bytes) / report.elements.size);
    return 0;
}

int verify(const std::string& path) {
    const file_report report = detail::inspect_file(path);
    if (report.whole()) {
        std::printf("whole: %" PRIu64 " elements\n", report.newest()->size);
        return 0;
    }
    if (report.fault != detail::file_fault::none) std::fprintf(stderr, "%s\n", printable(report.what).c_str());
    const auto complain = [](bool about, const char* what) {
        if (about) std::fprintf(stderr, "damaged: %s\n", what);
    };
    complain(!report.identity_whole, "the header's description of the elements");
    complain(!report.copy_whole, "the copy of the description of the elements");
    complain(!report.records_whole(), "a record of the number of elements");
    // A writer in the middle of a commit, or a power cut in the middle of one, leaves that too.
    if (report.fault == detail::file_fault::none) {
        std::fprintf(stderr, "the file can still be opened, with %" PRIu64 " elements\n", report.newest()->size);
    }
    return 1;
}

int repair(const std::string& path, std::optional<std::uint64_t> elements) {
    const auto done = detail::repair_file(path, elements);
    for (const std::string& each : done) std::printf("mended: %s\n", printable(each).c_str());
    if (done.empty()) std::printf("nothing to mend\n");
    return 0;
}

std::function<int()> set_up(CLI::App& app) {
    struct wishes {
        std::string path;
        std::optional<std::uint64_t> elements;
    };
    auto wish = std::make_shared<wishes>();
    app.require_subcommand(1);
    CLI::App* const info_verb = app.add_subcommand("info", "Print number and type of the elements, commits and size of the file");
    CLI::App* const verify_verb = app.add_subcommand("verify", "Check the header for damage; exit code 1 if there is any");
    CLI::App* const repair_verb = app.add_subcommand("repair", "Mend the header where possible; elements are not changed");
    for (CLI::App* const verb : {info_verb, verify_verb, repair_verb}) {
        verb->add_option("FILE", wish->path, "The file of a file_vector")->required();
    }
    repair_verb->add_option("--elements", wish->elements, "Number of elements, if both records of it are damaged");
    return [=] {
        if (info_verb->parsed()) return info(wish->path);
        if (verify_verb->parsed()) return verify(wish->path);
        return repair(wish->path, wish->elements);
    };
}

const registered_verb file("file", "Inspect, check and repair the file of a file_vector", set_up);

}    // namespace
}    // namespace headroom::tools
