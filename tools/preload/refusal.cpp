// SPDX-License-Identifier: MIT
#include "preload/refusal.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>

namespace headroom::profile {
namespace {

#if defined(__x86_64__)
constexpr ElfW(Half) own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr ElfW(Half) own_machine = EM_AARCH64;
#else
constexpr ElfW(Half) own_machine = EM_NONE;    // any
#endif

bool read_at(int file, std::uint64_t offset, void* to, std::size_t size) {
    return pread(file, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

refusal refusal_of_content(int file) {
    Elf64_Ehdr head{};
    if (!read_at(file, 0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return refusal::none;    // a script
    if (head.e_ident[EI_CLASS] != ELFCLASS64) return refusal::narrow;
    if (own_machine != EM_NONE && head.e_machine != own_machine) return refusal::other_processor;
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr part{};
        if (!read_at(file, head.e_phoff + std::uint64_t{i} * head.e_phentsize, &part, sizeof part)) return refusal::none;
        if (part.p_type == PT_INTERP) return refusal::none;
    }
    return refusal::linked_statically;
}

}    // namespace

refusal refusal_of(const char* path) {
    struct stat facts{};
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return refusal::none;
    if (((facts.st_mode & S_ISUID) != 0 && facts.st_uid != geteuid()) ||
        ((facts.st_mode & S_ISGID) != 0 && facts.st_gid != getegid()))
        return refusal::setuid;
    char capabilities[64];
    if (geteuid() != 0 && getxattr(path, "security.capability", capabilities, sizeof capabilities) > 0)
        return refusal::capabilities;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return refusal::none;    // one may be allowed to run what one may not read
    const refusal found = refusal_of_content(file);
    close(file);
    return found;
}

}    // namespace headroom::profile
