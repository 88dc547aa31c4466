// SPDX-License-Identifier: MIT
#include "preload/mallocs.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace headroom::tools {
namespace {

namespace fs = std::filesystem;

struct kind {
    std::string_view name;
    std::string_view file;    // how the file's name begins
};
// Of two files of one kind the one named here first is taken: tcmalloc's minimal one has no profiler.
constexpr kind kinds[] = {{"mimalloc", "libmimalloc.so"},         {"jemalloc", "libjemalloc.so"},
                          {"tcmalloc", "libtcmalloc_minimal.so"}, {"tcmalloc", "libtcmalloc.so"},
                          {"snmalloc", "libsnmallocshim.so"},     {"snmalloc", "libsnmalloc.so"}};

// Those that the loader looks into: of LD_LIBRARY_PATH, of this process's C library, and the usual ones.
std::vector<fs::path> library_folders() {
    std::vector<fs::path> folders;
    if (const char* const given = std::getenv("LD_LIBRARY_PATH"); given != nullptr) {
        std::string_view rest = given;
        for (std::size_t end = 0; end != std::string_view::npos; rest.remove_prefix(std::min(end + 1, rest.size()))) {
            end = rest.find(':');
            if (end != 0 && !rest.empty()) folders.emplace_back(rest.substr(0, end));
            if (end == std::string_view::npos) break;
        }
    }
    Dl_info libc{};
    if (dladdr(reinterpret_cast<const void*>(&std::getenv), &libc) != 0 && libc.dli_fname != nullptr &&
        libc.dli_fname[0] == '/') {
        folders.push_back(fs::path(libc.dli_fname).parent_path());
    }
    for (const char* const usual : {"/usr/local/lib", "/usr/lib64", "/usr/lib"}) folders.emplace_back(usual);
    return folders;
}

// "libmimalloc.so.2.0" has version "2.0"; one number alone says how it is called, not which release it is.
std::string version_of(const fs::path& file, const kind& what) {
    const std::string name = file.filename().string();
    if (name.size() <= what.file.size() + 1) return {};
    const std::string version = name.substr(what.file.size() + 1);
    const bool numbers = version.find_first_not_of("0123456789.") == std::string::npos;
    if (!numbers || version.find('.') == std::string::npos) return {};
    return version.substr(0, version.find('.', version.find('.') + 1));
}

struct pipe_pair {
    int ends[2] = {-1, -1};
    ~pipe_pair() {
        for (const int end : ends) {
            if (end >= 0) close(end);
        }
    }
};

}    // namespace

std::vector<malloc_library> installed_mallocs() {
    std::vector<malloc_library> found;
    std::vector<fs::path> seen;
    for (const kind& what : kinds) {
        std::vector<malloc_library> of_kind;
        for (const fs::path& folder : library_folders()) {
            std::error_code error;
            for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
                const std::string name = at->path().filename().string();
                if (name.compare(0, what.file.size(), what.file) != 0) continue;
                if (name.size() > what.file.size() && name[what.file.size()] != '.') continue;
                std::error_code dangling;
                const fs::path real = fs::canonical(at->path(), dangling);
                if (dangling || std::find(seen.begin(), seen.end(), real) != seen.end()) continue;
                seen.push_back(real);
                const std::string version = version_of(real, what);
                of_kind.push_back({std::string(what.name) + (version.empty() ? "" : " " + version), real.string()});
            }
        }
        std::sort(of_kind.begin(), of_kind.end(), [](const malloc_library& one, const malloc_library& two) {
            return strverscmp(one.name.c_str(), two.name.c_str()) > 0;
        });
        for (malloc_library& one : of_kind) {
            const bool known =
                std::any_of(found.begin(), found.end(), [&](const malloc_library& other) { return other.name == one.name; });
            if (!known) found.push_back(std::move(one));
        }
    }
    return found;
}

malloc_library malloc_named(const std::string& word) {
    if (const std::size_t sign = word.find('='); sign != std::string::npos && sign != 0) {
        const std::string file = word.substr(sign + 1);
        std::error_code error;
        const fs::path real = fs::canonical(file, error);
        if (error) throw std::invalid_argument("--malloc " + word + ": " + error.message());
        return {word.substr(0, sign), real.string()};
    }
    std::string names;
    for (const malloc_library& one : installed_mallocs()) {
        if (one.name == word || one.name.substr(0, one.name.find(' ')) == word) return one;
        names += (names.empty() ? "" : ", ") + one.name;
    }
    throw std::invalid_argument("there is no malloc \"" + word + "\" in the loader's folders (" +
                                (names.empty() ? "none is installed" : "there are: " + names) +
                                "); --malloc NAME=FILE names one elsewhere");
}

malloc_setting huge_pages_of(const malloc_library& library) {
    struct known {
        std::string_view kind;
        const char* name;
        const char* value;
        const char* separator;
    };
    static constexpr known all[] = {
        {"mimalloc", "MIMALLOC_ALLOW_LARGE_OS_PAGES", "1", nullptr},
        {"jemalloc", "MALLOC_CONF", "thp:always", ","},
#if defined(__GLIBC__)
        {"glibc", "GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", ":"},
#endif
    };
    const std::string kind = library.file.empty() ? "glibc" : library.name.substr(0, library.name.find(' '));
    for (const known& one : all) {
        if (one.kind != kind) continue;
        const char* const before = one.separator != nullptr ? std::getenv(one.name) : nullptr;
        const bool joined = before != nullptr && *before != '\0';
        return {one.name, joined ? std::string(before) + one.separator + one.value : one.value};
    }
    return {};
}

std::string preload_value(const std::string& file) {
    const char* const before = std::getenv("LD_PRELOAD");
    return before != nullptr && *before != '\0' ? file + ":" + before : file;
}

std::string why_not_preloadable(const malloc_library& library) {
    if (library.file.find_first_of(" :") != std::string::npos) return "LD_PRELOAD takes no path with a space or a colon";
    pipe_pair said;
    if (pipe(said.ends) != 0) return std::strerror(errno);
    const pid_t child = fork();
    if (child < 0) return std::strerror(errno);
    if (child == 0) {
        setenv("LD_PRELOAD", library.file.c_str(), 1);    // alone: what else is preloaded may have faults of its own
        alarm(10);
        dup2(said.ends[1], STDERR_FILENO);
        if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0) {
            dup2(nothing, STDIN_FILENO);
            dup2(nothing, STDOUT_FILENO);
        }
        close(said.ends[0]);
        close(said.ends[1]);
        execl("/bin/sh", "sh", "-c", ":", static_cast<char*>(nullptr));
        _exit(127);
    }
    close(said.ends[1]);
    said.ends[1] = -1;
    std::string text;
    char part[1024];
    for (ssize_t got = 0; (got = read(said.ends[0], part, sizeof part)) > 0 || (got < 0 && errno == EINTR);) {
        if (got > 0) text.append(part, static_cast<std::size_t>(got));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    // The loader prints its complaint and starts the program without the library.
    if (text.find("LD_PRELOAD") != std::string::npos) return text.substr(0, text.find('\n'));
    if (WIFSIGNALED(status)) return std::string("it ends /bin/sh (") + strsignal(WTERMSIG(status)) + ")";
    if (WEXITSTATUS(status) != 0) return "/bin/sh does not run over it";
    return {};
}

}    // namespace headroom::tools
