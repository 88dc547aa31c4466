// Properties of a program's file, read before it is run.
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "program.hpp"

namespace headroom::profile {
namespace {

struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

bool read_at(std::FILE* file, std::uint64_t offset, void* to, std::size_t size) {
    return std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0 && std::fread(to, 1, size, file) == size;
}

// True if the program exports a function of this name, which then comes before any preloaded library's.
bool exports(std::FILE* file, const Elf64_Ehdr& head, std::string_view wanted) {
    for (unsigned i = 0; i < head.e_shnum; ++i) {
        Elf64_Shdr section{};
        if (!read_at(file, head.e_shoff + std::uint64_t{i} * head.e_shentsize, &section, sizeof section)) return false;
        if (section.sh_type != SHT_DYNSYM || section.sh_entsize != sizeof(Elf64_Sym)) continue;
        Elf64_Shdr strings{};
        if (!read_at(file, head.e_shoff + std::uint64_t{section.sh_link} * head.e_shentsize, &strings, sizeof strings))
            return false;
        std::string names(strings.sh_size, '\0');
        if (!read_at(file, strings.sh_offset, names.data(), names.size())) return false;
        for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol{};
            if (!read_at(file, section.sh_offset + at, &symbol, sizeof symbol)) return false;
            if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.size() && wanted == names.data() + symbol.st_name)
                return true;
        }
    }
    return false;
}

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
        case refusal::narrow: return path + " is a 32-bit program: the recorder is a 64-bit library";
        case refusal::other_processor: return path + " is for another processor than the recorder";
        case refusal::linked_statically:
            return path + " is linked statically: no library can be preloaded into it. Link it dynamically to record it";
        case refusal::own_malloc:
            return path +
                   " has an allocator of its own linked into it (it defines malloc), which no preloaded library comes before. Link it "
                   "without, or with that allocator as a shared library";
        case refusal::other_environment: return path + " was run with an environment that does not name the recorder";
    }
    return {};
}

std::string why_not(const std::string& path) {
    if (const refusal why = refusal_of(path.c_str()); why != refusal::none) return words_for(why, path);
    const std::unique_ptr<std::FILE, closer> file(std::fopen(path.c_str(), "rbe"));
    Elf64_Ehdr head{};
    if (!file || !read_at(file.get(), 0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {};
    return exports(file.get(), head, "malloc") ? words_for(refusal::own_malloc, path) : std::string();
}

std::uint64_t static_bytes(const std::string& path) {
    const std::unique_ptr<std::FILE, closer> file(std::fopen(path.c_str(), "rbe"));
    Elf64_Ehdr head{};
    if (!file || !read_at(file.get(), 0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr part{};
        if (!read_at(file.get(), head.e_phoff + std::uint64_t{i} * head.e_phentsize, &part, sizeof part)) break;
        if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) bytes += part.p_memsz;
    }
    return bytes;
}

}    // namespace headroom::profile
