// SPDX-License-Identifier: MIT
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

#include "preload/program.hpp"

namespace headroom::profile {
namespace {

struct sanitizer {
    std::string_view name;
    std::string_view flag;
    std::string_view library;    // how the name of GCC's begins
    std::string_view symbol;     // of what Clang links into the program
};
constexpr sanitizer sanitizers[] = {{"AddressSanitizer", "address", "libasan.so", "__asan_init"},
                                    {"ThreadSanitizer", "thread", "libtsan.so", "__tsan_init"},
                                    {"LeakSanitizer", "leak", "liblsan.so", "__lsan_init"},
                                    {"HWAddressSanitizer", "hwaddress", "libhwasan.so", "__hwasan_init"},
                                    {"MemorySanitizer", "memory", "libclang_rt.msan", "__msan_init"}};

std::string by_itself(const std::string& path, const std::string& what) {
    return what == "the recorder" ? ", or record it by itself: headroom profile -- " + path
                                  : ", or compare it by itself: headroom compare-malloc -- " + path;
}

// The file of a 64-bit ELF program.
class program_file {
public:
    explicit program_file(const std::string& path) : file_(std::fopen(path.c_str(), "rbe"), &std::fclose) {
        is_elf_ = file_ && read(0, head_) && std::memcmp(head_.e_ident, ELFMAG, SELFMAG) == 0;
    }

    // Calls `use` with each program header, or not at all where the file is none of ELF's.
    template <class F>
    void for_each_part(F use) const {
        for (unsigned i = 0; is_elf_ && i < head_.e_phnum; ++i) {
            Elf64_Phdr part{};
            if (read(head_.e_phoff + std::uint64_t{i} * head_.e_phentsize, part)) use(part);
        }
    }

    // True if the program exports a function of this name, which then comes before any preloaded library's.
    [[nodiscard]] bool exports(std::string_view wanted) const {
        for (unsigned i = 0; is_elf_ && i < head_.e_shnum; ++i) {
            Elf64_Shdr section{};
            Elf64_Shdr strings{};
            if (!read_section(i, section)) return false;
            if (section.sh_type != SHT_DYNSYM || section.sh_entsize != sizeof(Elf64_Sym)) continue;
            if (!read_section(section.sh_link, strings)) return false;
            std::string names(strings.sh_size, '\0');
            if (!read_bytes(strings.sh_offset, names.data(), names.size())) return false;
            for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
                Elf64_Sym symbol{};
                if (!read(section.sh_offset + at, symbol)) return false;
                if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.size() && wanted == names.data() + symbol.st_name)
                    return true;
            }
        }
        return false;
    }

    // Returns the names of the libraries that the program was linked to.
    [[nodiscard]] std::vector<std::string> needed() const {
        std::vector<std::string> found;
        for (unsigned i = 0; is_elf_ && i < head_.e_shnum; ++i) {
            Elf64_Shdr section{};
            Elf64_Shdr strings{};
            if (!read_section(i, section)) return found;
            if (section.sh_type != SHT_DYNAMIC || section.sh_entsize != sizeof(Elf64_Dyn)) continue;
            if (!read_section(section.sh_link, strings)) return found;
            std::string names(strings.sh_size, '\0');
            if (!read_bytes(strings.sh_offset, names.data(), names.size())) return found;
            for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Dyn)) {
                Elf64_Dyn entry{};
                if (!read(section.sh_offset + at, entry) || entry.d_tag == DT_NULL) break;
                if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < names.size())
                    found.emplace_back(names.c_str() + entry.d_un.d_val);
            }
        }
        return found;
    }

private:
    bool read_bytes(std::uint64_t offset, void* to, std::size_t size) const {
        return std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) == 0 && std::fread(to, 1, size, file_.get()) == size;
    }
    template <class T>
    bool read(std::uint64_t offset, T& to) const {
        return read_bytes(offset, &to, sizeof to);
    }
    bool read_section(std::uint64_t number, Elf64_Shdr& to) const { return read(head_.e_shoff + number * head_.e_shentsize, to); }

    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    Elf64_Ehdr head_{};
    bool is_elf_ = false;
};

}    // namespace

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0 ? name : std::string();
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
    while (true) {
        const std::size_t end = rest.find(':');
        std::string folder(rest.substr(0, end));
        if (folder.empty()) folder.push_back('.');
        const std::string candidate = folder + "/" + name;
        struct stat facts{};
        if (access(candidate.c_str(), X_OK) == 0 && stat(candidate.c_str(), &facts) == 0 && S_ISREG(facts.st_mode))
            return candidate;
        if (end == std::string_view::npos) return {};
        rest.remove_prefix(end + 1);
    }
}

std::string words_for(refusal why, const std::string& path, const std::string& what) {
    switch (why) {
        case refusal::none:
        case refusal::count: break;
        case refusal::setuid:
            return path +
                   " is setuid or setgid: the system keeps preloaded libraries out of it. Record a copy without that bit, or record it "
                   "as the user it runs as";
        case refusal::capabilities:
            return path + " has file capabilities: the system keeps preloaded libraries out of it. Record a copy without them";
        case refusal::narrow: return path + " is a 32-bit program: what is preloaded here has 64 bits";
        case refusal::other_processor: return path + " is for another processor than what is preloaded here";
        case refusal::linked_statically:
            return path + " is linked statically: no library can be preloaded into it. Link it dynamically to record it";
        case refusal::own_malloc:
            return path +
                   " has an allocator of its own linked into it (it defines malloc), which no preloaded library comes before. Link it "
                   "without, or with that allocator as a shared library";
        case refusal::no_memory: return path + " was not recorded: the system refused memory for the recorder";
        case refusal::no_unwinder:
            return path + " was not recorded: libunwind.so.8 is missing, which follows call stacks (Debian: libunwind8)";
        case refusal::other_environment:
            return path + " was run with an environment that does not name " + what + ". Let what runs it keep LD_PRELOAD and" +
                   (what == "the recorder" ? " HEADROOM_PROFILE_SOCKET" : " its value") + by_itself(path, what);
        case refusal::other_preload:
            return path + " was run with an LD_PRELOAD that does not name " + what +
                   ". Let what sets it keep what was there (LD_PRELOAD=$LD_PRELOAD:LIBRARY)" + by_itself(path, what);
        case refusal::preceded:
            return path + " was run with another library's malloc before " + what +
                   ". Let what sets LD_PRELOAD name that library last (LD_PRELOAD=$LD_PRELOAD:LIBRARY)" + by_itself(path, what);
        case refusal::not_loaded:
            return path + " did not load " + what + ", though LD_PRELOAD names it: its loader says why on standard error";
        case refusal::not_readable:
            return path +
                   " has other rights than this command: the system keeps preloaded libraries out of it. Record it as the user "
                   "it runs as";
    }
    return {};
}

std::string why_not(const std::string& path, const std::string& what) {
    const refusal why = refusal_of(path.c_str());
    if (why != refusal::none) return words_for(why, path, what);
    const program_file program(path);
    if (!program.exports("malloc")) return {};
    for (const sanitizer& one : sanitizers) {
        if (program.exports(one.symbol)) {
            return path + " is built with " + std::string(one.name) +
                   ", whose malloc no preloaded library comes before. Build it without -fsanitize=" + std::string(one.flag);
        }
    }
    return words_for(refusal::own_malloc, path, what);
}

std::vector<std::string> preloaded_in(const std::string& environment) {
    std::vector<std::string> found;
    constexpr std::string_view name = "LD_PRELOAD=";
    for (std::size_t at = 0; at < environment.size();) {
        const std::size_t end = std::min(environment.find('\0', at), environment.size());
        std::string_view variable = std::string_view(environment).substr(at, end - at);
        at = end + 1;
        if (!variable.starts_with(name)) continue;
        for (variable.remove_prefix(name.size()); !variable.empty();) {
            const std::size_t length = std::min(variable.find_first_of(" :"), variable.size());
            if (length != 0) found.emplace_back(variable.substr(0, length));
            variable.remove_prefix(std::min(length + 1, variable.size()));
        }
        break;
    }
    return found;
}

bool is_same_library(const std::string& one, const std::string& other) {
    return one.substr(one.rfind('/') + 1) == other.substr(other.rfind('/') + 1);
}

bool defines_malloc(const std::string& path) { return program_file(path).exports("malloc"); }

std::string sanitizer_words(const std::string& path) {
    for (const std::string& library : program_file(path).needed()) {
        for (const sanitizer& one : sanitizers) {
            if (!library.starts_with(one.library)) continue;
            return path + " is built with " + std::string(one.name) + " (it needs " + library +
                   "), which ends a program where another library was loaded first. Build it without -fsanitize=" +
                   std::string(one.flag);
        }
    }
    return {};
}

std::string interpreter_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (file.get() != '#' || file.get() != '!' || !std::getline(file >> std::ws, line)) return {};
    return line.substr(0, line.find_first_of(" \t\r"));
}

std::uint64_t static_bytes(const std::string& path) {
    std::uint64_t bytes = 0;
    program_file(path).for_each_part([&](const Elf64_Phdr& part) {
        if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) bytes += part.p_memsz;
    });
    return bytes;
}

}    // namespace headroom::profile
