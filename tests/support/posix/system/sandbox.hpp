// SPDX-License-Identifier: MIT
// Refuses system calls to this process, as a sandbox does, with Linux's seccomp.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace headroom_test {

// System calls that are optional for the library: it works without them.
inline constexpr std::initializer_list<long> wishes{SYS_madvise, SYS_mremap, SYS_membarrier, SYS_prctl};

// Lets these system calls return `answer` in the calling thread and the threads that it starts, for good. False if the system has
// no seccomp.
inline bool answer_calls(std::initializer_list<long> calls, unsigned answer) {
    const auto step = [](unsigned code, unsigned yes, unsigned no, unsigned value) {
        return sock_filter{static_cast<unsigned short>(code), static_cast<unsigned char>(yes), static_cast<unsigned char>(no),
                           value};
    };
    std::vector<sock_filter> steps{step(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr))};
    for (const long call : calls) {
        steps.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(call)));
        steps.push_back(step(BPF_RET | BPF_K, 0, 0, answer));
    }
    steps.push_back(step(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW));
    const sock_fprog filter{static_cast<unsigned short>(steps.size()), steps.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
inline bool refuse_calls(std::initializer_list<long> calls, int error) {
    return answer_calls(calls, SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
}
// Ends the process by SIGSYS at the first of these calls.
inline bool end_at_calls(std::initializer_list<long> calls) { return answer_calls(calls, SECCOMP_RET_KILL_PROCESS); }

}    // namespace headroom_test
