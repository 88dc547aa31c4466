// SPDX-License-Identifier: MIT
// The machine's setting of huge pages, changed for a while.
//
// Whether programs get huge pages is the whole machine's, and decides more about large arrays than any container does. Only root may change
// it; where that is refused, nothing is changed and the reason is kept. A process of its own restores it, even if this one is killed.
#pragma once

#include <string>

namespace headroom::lab {

class huge_page_setting {
public:
    // `mode`: "always", "madvise" or "never", as Linux names them. Does nothing if that is set already. `file`: the system's, or a test's.
    explicit huge_page_setting(const std::string& mode, const std::string& file = system_file);
    // Restores what was set before.
    ~huge_page_setting();
    huge_page_setting(const huge_page_setting&) = delete;
    huge_page_setting& operator=(const huge_page_setting&) = delete;

    // Why it could not be set; empty if it is.
    [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

    static constexpr const char* system_file = "/sys/kernel/mm/transparent_hugepage/enabled";

private:
    std::string refusal_;
    int guardian_ = -1;    // a pipe at whose end the guardian restores the setting; -1: none
    int guardian_process_ = -1;
};

}    // namespace headroom::lab
