#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "system.hpp"

namespace headroom::tools::tune {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw std::runtime_error("cannot write " + path + ": " + why);
}

struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

// Where the bytes go in the end: a link's target, not the link.
fs::path target_of(const std::string& path) {
    std::error_code error;
    fs::path target = path;
    for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
        if (links == 40) fail(path, "too many symbolic links");
        const fs::path next = fs::read_symlink(target, error);
        if (error) fail(path, error.message());
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target;
}

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : fs::path("."); }

void put(std::FILE* file, const std::string& path, const std::string& content) {
    if (std::fwrite(content.data(), 1, content.size(), file) != content.size() || std::fflush(file) != 0) {
        fail(path, std::strerror(errno));
    }
}

}    // namespace

void require_writable(const std::string& path) {
    if (path == "-") return;
    const fs::path target = target_of(path);
    std::error_code error;
    const fs::file_status status = fs::status(target, error);
    if (fs::is_directory(status)) fail(path, "it is a folder");
    if (fs::exists(status) && !may_write(target.string())) fail(path, "no permission to write to it");
    if (fs::exists(status) && !fs::is_regular_file(status)) return;
    const fs::path folder = folder_of(target);
    if (!fs::is_directory(folder, error)) fail(path, "there is no folder " + folder.string());
    if (!may_write(folder.string())) fail(path, "no permission to write to folder " + folder.string());
}

void write_whole(const std::string& path, const std::string& content) {
    if (path == "-") {
        put(stdout, "standard output", content);
        return;
    }
    require_writable(path);
    const fs::path target = target_of(path);
    std::error_code error;
    const fs::file_status status = fs::status(target, error);
    const bool there = fs::exists(status);
    if (there && !fs::is_regular_file(status)) {
        const std::unique_ptr<std::FILE, closer> file(std::fopen(target.string().c_str(), "wb"));
        if (!file) fail(path, std::strerror(errno));
        put(file.get(), path, content);
        return;
    }
    // Beside it, under a name that nobody has: "x" refuses one that is there.
    fs::path beside;
    std::unique_ptr<std::FILE, closer> file;
    for (int i = 0; !file; ++i) {
        beside = target;
        beside += ".new" + (i == 0 ? std::string() : std::to_string(i));
        file.reset(std::fopen(beside.string().c_str(), "wbx"));
        if (!file && (errno != EEXIST || i == 100)) fail(path, std::strerror(errno));
    }
    try {
        put(file.get(), path, content);
        if (!synced(file.get())) fail(path, std::strerror(errno));
        if (std::fclose(file.release()) != 0) fail(path, std::strerror(errno));
        if (there) fs::permissions(beside, status.permissions(), error);
        fs::rename(beside, target, error);
        if (error) fail(path, error.message());
    } catch (...) {
        file.reset();
        fs::remove(beside, error);
        throw;
    }
}

}    // namespace headroom::tools::tune
