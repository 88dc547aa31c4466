// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Traces: whole, truncated anywhere, damaged, of another version, or heaptrack's.
#include "profile/run.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <memory>

#include "analyse/add_up.hpp"
#include "analyse/sites.hpp"
#include "record/digest.hpp"
#include "show/show.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace {

using namespace profile_test;
using namespace headroom::profile;

std::string recorded(const scratch_folder& folder, const char* program) {
    run(folder, std::string("@headroom profile -o @folder/trace -- @subjects/headroom-profile-subject ") + program);
    return folder.read("trace");
}

TEST(a_trace, cut_off_anywhere_is_read_up_to_there_or_refused) {
    const scratch_folder folder;
    const std::string whole = recorded(folder, "density-high");
    ASSERT_GT(whole.size(), 100U);
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
        std::ofstream(folder.file("cut"), std::ios::binary) << whole.substr(0, size);
        if (size < sizeof(file_head)) {
            EXPECT_THROW(add_up(folder.file("cut")), std::runtime_error) << size;
            continue;
        }
        const trace_totals totals = add_up(folder.file("cut"));
        // A trace cut between two blocks lacks only its end.
        const bool end_is_known = !totals.processes.empty() && totals.processes[0].complete;
        EXPECT_FALSE(totals.damage.empty() && end_is_known) << size;
        EXPECT_NO_THROW(terminal_text(find_sites(totals), 80)) << size;
    }
}

TEST(a_trace, with_a_changed_byte_is_read_up_to_it) {
    const scratch_folder folder;
    const std::string whole = recorded(folder, "threads");
    for (std::size_t at = sizeof(file_head); at < whole.size(); at += 1 + whole.size() / 61) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x55);
        std::ofstream(folder.file("changed"), std::ios::binary) << changed;
        const trace_totals totals = add_up(folder.file("changed"));
        // Only a block's process number and reserved bytes have no checksum.
        if (totals.damage.empty()) continue;
        EXPECT_NO_THROW(terminal_text(find_sites(totals), 80)) << at;
    }
}

TEST(a_trace, of_another_version_is_refused_with_both_numbers) {
    const scratch_folder folder;
    std::string whole = recorded(folder, "nothing");
    whole[8] = 99;
    std::ofstream(folder.file("other"), std::ios::binary) << whole;
    try {
        add_up(folder.file("other"));
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("version 99"), std::string::npos) << error.what();
    }
}

TEST(a_trace, on_a_disk_that_fills_up_keeps_its_whole_blocks) {
    const scratch_folder folder;
    const auto old_handler = signal(SIGXFSZ, SIG_IGN);
    rlimit old_limit{};
    getrlimit(RLIMIT_FSIZE, &old_limit);
    std::size_t blocks = 0;
    {
        trace_writer writer(folder.file("full"));
        rlimit limit = old_limit;
        limit.rlim_cur = 2000;
        setrlimit(RLIMIT_FSIZE, &limit);
        for (unsigned i = 0; i < 1000; ++i) {
            record_writer records;
            records.begin(record::text);
            records.text("block number " + std::to_string(i * 7919));
            if (!writer.write(0, records)) break;
            ++blocks;
        }
        setrlimit(RLIMIT_FSIZE, &old_limit);
        EXPECT_NE(writer.failure(), "");
    }
    signal(SIGXFSZ, old_handler);
    std::size_t read = 0;
    const std::string damage = read_trace(folder.file("full"), [&](std::uint32_t, record_reader& records) {
        while (!records.done()) {
            EXPECT_EQ(records.kind(), record::text);
            EXPECT_EQ(records.text(), "block number " + std::to_string(read * 7919));
            ++read;
        }
    });
    EXPECT_GT(blocks, 1U);
    EXPECT_EQ(read, blocks);
    EXPECT_EQ(damage, "") << "half a block, which hides what comes to stand behind it";
}

// In one block they would exceed the size above which a reader takes it for damaged.
TEST(a_trace, of_many_arrays_that_were_not_freed_ends_in_several_blocks) {
    constexpr unsigned arrays = 300000;
    const scratch_folder folder;
    const auto from = std::make_unique<ring>();
    record_writer records;
    digest process({}, records);
    process.begin(*from, 1000);
    const auto put = [&](event what, std::uint64_t address, std::uint64_t size) {
        slot one{};
        one.words[0] = address;
        one.words[1] = size;
        process.take(one, slot_head(0, what, 1, 7));
    };
    for (std::uint64_t address = 64; address <= arrays * 64; address += 64) {
        put(event::allocated, address, 16);
        put(event::moving, address, 0);
        put(event::moved, address, 32);
    }
    trace_writer out(folder.file("trace"));
    out.write(0, records);
    std::size_t blocks = 0;
    process.end({}, *from, [&] {
        out.write(0, records);
        ++blocks;
    });
    EXPECT_GT(blocks, 0U);
    EXPECT_LT(records.size(), block_size);
    out.write(0, records);
    EXPECT_EQ(add_up(folder.file("trace")).processes.at(0).totals.at(7).alive_at_end, arrays);
}

TEST(heaptrack, traces_are_read) {
    const scratch_folder folder;
    std::ofstream(folder.file("heaptrack")) << "v 10400 3\nX ./program\ns 9 ./program\ns 4 main\ns 8 main.cpp\n"
                                               "s 39 std::vector<int, std::allocator<int> >::_M_realloc_insert\ns a vector.tcc\n"
                                               "i 1000 1 2 3 a\ni 2000 1 4 5 1d0\nt 1 0\nt 2 1\n"
                                               "a 4 2\na 8 2\na 10 2\n+ 0\n+ 1\n- 0\n+ 2\n- 1\n- 2\nc 64\n";
    const trace_totals totals = add_up(folder.file("heaptrack"));
    EXPECT_EQ(totals.damage, "");
    const profile_result found = find_sites(totals);
    EXPECT_EQ(found.growths, 2);
    EXPECT_EQ(found.copied, 12);
    EXPECT_EQ(found.seconds, 0.1);
    ASSERT_EQ(found.sites.size(), 1U);
    EXPECT_EQ(found.sites[0].place(), "main.cpp:10");
    EXPECT_EQ(found.sites[0].container, "std::vector<int>");
}

TEST(heaptrack, traces_with_references_to_nothing_are_refused) {
    const scratch_folder folder;
    for (const char* lines : {"v 10400 3\n+ 5\n", "v 10400 3\na 4 7\n", "v 10400 9\n", "hello\n", ""}) {
        std::ofstream(folder.file("bad")) << lines;
        EXPECT_THROW(add_up(folder.file("bad")), std::runtime_error) << lines;
    }
}

TEST(a_difference, names_the_functions_that_changed) {
    const scratch_folder folder;
    run(folder, "@headroom profile -o @folder/one -- @subjects/headroom-profile-subject only-numbers 2");
    run(folder, "@headroom profile -o @folder/two -- @subjects/headroom-profile-subject only-numbers 4");
    const outcome done = run(folder, "@headroom profile diff @folder/one @folder/two");
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_NE(done.out.find("+100%"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find("numbers"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find("copied 1.0 MiB -> 2.0 MiB"), std::string::npos) << done.out;
}

TEST(a_trace, names_its_functions_itself_when_the_program_has_gone) {
    const scratch_folder folder;
    fs::copy_file(HEADROOM_PROFILE_SUBJECTS "/headroom-profile-subject", folder.file("program"));
    run(folder, "@headroom profile -o @folder/trace -- @folder/program only-numbers 3");
    fs::remove(folder.file("program"));
    const profile_result found = find_sites(add_up(folder.file("trace")));
    ASSERT_FALSE(found.sites.empty());
    EXPECT_EQ(found.sites[0].container, "std::vector<int>");
    EXPECT_NE(found.sites[0].function.find("numbers"), std::string::npos);
}

// If the C library's debug information is installed, unpacking it takes longer than the recording.
TEST(a_trace, has_names_of_the_c_library_and_no_lines) {
    const scratch_folder folder;
    ASSERT_EQ(run(folder, "@headroom profile -o @folder/trace -- @subjects/headroom-profile-subject only-numbers 3").code, 0);
    const trace_totals totals = add_up(folder.file("trace"));
    int found = 0;
    for (const auto& [where, frames] : totals.processes.at(0).names) {
        for (const source_frame& frame : frames) {
            if (frame.module.find("/libc.so.") == std::string::npos) continue;
            ++found;
            EXPECT_NE(frame.function, "");
            EXPECT_EQ(frame.file + ":" + std::to_string(frame.line), ":0");
        }
    }
    EXPECT_GT(found, 0) << "main() is called by it";
}

TEST(notes, that_are_those_of_many_processes_are_one_line_with_a_count) {
    trace_totals trace;
    for (std::uint32_t i = 0; i < 3; ++i) {
        process_totals& process = trace.processes.emplace_back();
        process.path = "/bin/program" + std::to_string(i);
        process.pid = 100 + i;
        process.lost = 5;
        process.complete = true;
        process.notes = {"the machine was busy"};
        process.stacks[0].frames = {16};
        process.totals[0].allocations = 1;
        process.names[{0, 16}] = {{"fill", "", 0, process.path, false}};
    }
    const std::vector<std::string> notes = find_sites(trace).notes;
    ASSERT_EQ(notes.size(), 3U);
    EXPECT_EQ(notes[0], "the machine was busy");
    EXPECT_NE(notes[1].find("15 events"), std::string::npos) << notes[1];
    EXPECT_NE(notes[1].find("3 processes"), std::string::npos) << notes[1];
    EXPECT_NE(notes[2].find("3 programs"), std::string::npos) << notes[2];
}

TEST(outputs, for_other_programs_hold_the_bytes_that_were_copied) {
    const scratch_folder folder;
    const outcome done =
        run(folder,
            "@headroom profile -o @folder/trace --folded @folder/folded --pprof @folder/pprof --page @folder/page "
            "-- @subjects/headroom-profile-subject only-numbers 3");
    ASSERT_EQ(done.code, 0) << done.err;
    long long bytes = 0;
    std::istringstream folded(folder.read("folded"));
    for (std::string line; std::getline(folded, line);) bytes += std::stoll(line.substr(line.rfind(' ')));
    EXPECT_EQ(bytes, answer_in(done.out).bytes);
    EXPECT_EQ(folder.read("pprof").substr(0, 2), "\x1f\x8b");
    const std::string page = folder.read("page");
    EXPECT_NE(page.find("std::vector&lt;int&gt;"), std::string::npos);
    EXPECT_NE(page.find("subject.cpp:"), std::string::npos);
    EXPECT_EQ(page.find("src=\"http"), std::string::npos);
}

}    // namespace
