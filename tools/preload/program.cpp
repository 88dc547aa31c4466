#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

#include "preload/program.hpp"

namespace headroom::profile {
namespace {

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

std::string words_for(refusal why, const std::string& path) {
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
        case refusal::other_environment: return path + " was run with an environment that does not name the recorder";
    }
    return {};
}

std::string why_not(const std::string& path) {
    refusal why = refusal_of(path.c_str());
    if (why == refusal::none && program_file(path).exports("malloc")) why = refusal::own_malloc;
    return words_for(why, path);
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
