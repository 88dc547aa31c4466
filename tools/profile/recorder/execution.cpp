// SPDX-License-Identifier: MIT
// The functions that run other programs: says of those that no recorder can be preloaded into that they are not recorded.
#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "allocator_behind.hpp"
#include "calls.hpp"
#include "errno_kept.hpp"
#include "preload/refusal.hpp"
#include "stacks.hpp"

namespace headroom::profile {
namespace {

constexpr std::size_t longest_path = 1024;

// Writes the absolute path of `name` into `to`, looking for it as execvp does if `search` is set. False if it is too long.
bool absolute_path(const char* name, bool search, char (&to)[longest_path]) {
    const auto join = [&](const char* folder, std::size_t length) {
        const std::size_t rest = std::strlen(name);
        if (length + 1 + rest >= longest_path) return false;
        if (to != folder) std::memcpy(to, folder, length);
        to[length] = '/';
        std::memcpy(to + length + 1, name, rest + 1);
        return true;
    };
    if (search && std::strchr(name, '/') == nullptr) {
        const char* at = getenv("PATH");
        for (at = at != nullptr ? at : "/bin:/usr/bin"; at != nullptr;) {
            const char* const end = std::strchr(at, ':');
            const std::size_t length = end != nullptr ? static_cast<std::size_t>(end - at) : std::strlen(at);
            if (length != 0 && join(at, length) && access(to, X_OK) == 0) return true;
            at = end != nullptr ? end + 1 : nullptr;
        }
        return false;
    }
    if (name[0] == '/') {
        if (std::strlen(name) >= longest_path) return false;
        std::strcpy(to, name);
        return true;
    }
    return getcwd(to, longest_path) != nullptr && join(to, std::strlen(to));
}

// Returns the value of a variable; null if the environment does not have it.
const char* value_of(char* const* environment, const char* name) {
    const std::size_t length = std::strlen(name);
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        if (std::strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') return *environment + length + 1;
    }
    return nullptr;
}

const char* last_part(const char* path, const char* end) {
    const char* part = path;
    for (; path != end; ++path) {
        if (*path == '/') part = path + 1;
    }
    return part;
}

// True if a value of LD_PRELOAD names a file of the recorder's name, wherever that lies.
bool names_recorder(const char* preload) {
    Dl_info here{};
    if (dladdr(&longest_path, &here) == 0 || here.dli_fname == nullptr) return true;
    const char* const end_of_own = here.dli_fname + std::strlen(here.dli_fname);
    const char* const own = last_part(here.dli_fname, end_of_own);
    const auto length = static_cast<std::size_t>(end_of_own - own);
    while (*preload != '\0') {
        const char* const end = preload + std::strcspn(preload, " :");
        const char* const part = last_part(preload, end);
        if (static_cast<std::size_t>(end - part) == length && std::memcmp(part, own, length) == 0) return true;
        preload = *end != '\0' ? end + 1 : end;
    }
    return false;
}

refusal refusal_of_environment(char* const* environment) {
    const char* const preload = value_of(environment, "LD_PRELOAD");
    if (preload == nullptr || *preload == '\0' || value_of(environment, socket_variable) == nullptr)
        return refusal::other_environment;
    return names_recorder(preload) ? refusal::none : refusal::other_preload;
}

// Records that the program `name` cannot be recorded, if so. `search`: along PATH, as execvp does.
void report_if_refused(const char* name, bool search, char* const* environment) {
    if (name == nullptr || now.load(std::memory_order_relaxed) == state::off) return;
    const errno_kept kept;
    char path[longest_path];
    if (!absolute_path(name, search, path) || access(path, X_OK) != 0) return;
    refusal why = refusal_of(path);
    if (why == refusal::none) why = refusal_of_environment(environment);
    if (why == refusal::none || !recording()) return;
    const inside_recorder guard;
    put_refused(why, path);
}

constinit function_behind<int(const char*, char* const*, char* const*)> next_execve("execve");
constinit function_behind<int(const char*, char* const*)> next_execv("execv");
constinit function_behind<int(const char*, char* const*)> next_execvp("execvp");
constinit function_behind<int(const char*, char* const*, char* const*)> next_execvpe("execvpe");
using spawning = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                     char* const*);
constinit function_behind<spawning> next_spawn("posix_spawn");
constinit function_behind<spawning> next_spawnp("posix_spawnp");

}    // namespace

void put_refused(refusal why, const char* path) {
    std::uint64_t words[longest_path / sizeof(std::uint64_t)] = {};
    const std::size_t length = std::strlen(path);
    std::memcpy(words, path, length);
    const std::uint64_t head[3] = {static_cast<std::uint64_t>(why), 0, 0};
    put_long(event::refused, static_cast<std::uint32_t>(length), head, words, (length + 7) / 8);
}

void put_refused_here(refusal why) {
    char path[longest_path] = {};
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    put_refused(why, length > 0 ? path : "?");
}

}    // namespace headroom::profile

using namespace headroom::profile;

extern "C" {

HEADROOM_VISIBLE int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
    report_if_refused(path, false, environment);
    return next_execve.get(HEADROOM_CALLER)(path, arguments, environment);
}
HEADROOM_VISIBLE int execv(const char* path, char* const arguments[]) noexcept {
    report_if_refused(path, false, environ);
    return next_execv.get(HEADROOM_CALLER)(path, arguments);
}
HEADROOM_VISIBLE int execvp(const char* file, char* const arguments[]) noexcept {
    report_if_refused(file, true, environ);
    return next_execvp.get(HEADROOM_CALLER)(file, arguments);
}
HEADROOM_VISIBLE int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
    report_if_refused(file, true, environment);
    return next_execvpe.get(HEADROOM_CALLER)(file, arguments, environment);
}
HEADROOM_VISIBLE int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
    report_if_refused(path, false, environment);
    return next_spawn.get(HEADROOM_CALLER)(child, path, actions, attributes, arguments, environment);
}
HEADROOM_VISIBLE int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                                  const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
    report_if_refused(file, true, environment);
    return next_spawnp.get(HEADROOM_CALLER)(child, file, actions, attributes, arguments, environment);
}

// The forms with a list of arguments pass them on as an array.
#define HEADROOM_COLLECT_ARGUMENTS(FIRST)                                                        \
    va_list list;                                                                                \
    va_start(list, FIRST);                                                                       \
    std::size_t count = 1;                                                                       \
    while (va_arg(list, const char*) != nullptr) ++count;                                        \
    va_end(list);                                                                                \
    auto** const arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
    va_start(list, FIRST);                                                                       \
    arguments[0] = const_cast<char*>(FIRST);                                                     \
    for (std::size_t i = 1; i <= count; ++i) arguments[i] = va_arg(list, char*)

HEADROOM_VISIBLE int execl(const char* path, const char* first, ...) noexcept {
    HEADROOM_COLLECT_ARGUMENTS(first);
    va_end(list);
    return execv(path, arguments);
}
HEADROOM_VISIBLE int execlp(const char* file, const char* first, ...) noexcept {
    HEADROOM_COLLECT_ARGUMENTS(first);
    va_end(list);
    return execvp(file, arguments);
}
HEADROOM_VISIBLE int execle(const char* path, const char* first, ...) noexcept {
    HEADROOM_COLLECT_ARGUMENTS(first);
    char* const* const environment = va_arg(list, char* const*);
    va_end(list);
    return execve(path, arguments, environment);
}

}    // extern "C"
