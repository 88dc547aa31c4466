// What an owner may do to a range besides filling it: protect it, name it.
#include <algorithm>
#include <cstring>

#include "range/prefaulter.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// The end of a life: the next owner finds what the system gave.
bool change_back(range* control) noexcept {
    bool keep = true;
    if (control->allowed != access::read_write) {
        const std::size_t committed = committed_of(control);
        keep = committed == 0 || !protect(control->part(0, committed), access::read_write);
        control->allowed = access::read_write;
    }
    if (control->named) name(control, nullptr);
    control->change_back = nullptr;
    return keep;
}

// What the first `bytes` could be used for is so again. (Of several mappings the system may have changed the first, before it refused
// to cut the last in two.)
void put_back(range* control, std::size_t bytes) noexcept {
    const std::size_t limited = control->allowed == access::read_write ? 0 : std::min(control->limited, bytes);
    if (limited != 0) (void)protect(control->part(0, limited), control->allowed);
    if (limited != bytes) (void)protect(control->part(limited, bytes), access::read_write);
}

}    // namespace

void rewriting::label(const char* text) noexcept {
    char bytes[longest_name + 1] = {};
    if (text != nullptr)
        for (std::size_t i = 0; i < longest_name && text[i] != '\0'; ++i) bytes[i] = text[i];
    for (std::size_t i = 0; i < control_->label.size(); ++i) {
        std::size_t word;
        std::memcpy(&word, bytes + i * sizeof word, sizeof word);
        control_->label[i].store(word, std::memory_order_release);
    }
}

void copy_label(const range* control, char* to) noexcept {
    for (const auto& each : control->label) {
        const std::size_t word = each.load(std::memory_order_acquire);
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
    }
}

std::error_code protect(range* control, access allowed) noexcept {
    const without_helper pause(control);
    // What the owner was given, and no more: what is committed later must be accessible, and the helper may have rights far
    // ahead of the owner.
    const std::size_t bytes = control->handed != 0 ? control->handed : committed_of(control);
    if (bytes > 0) {
        std::error_code error = protect(control->part(0, bytes), allowed);
        if (error) {
            give_back_unused();    // mappings, or memory that a limit counts
            error = protect(control->part(0, bytes), allowed);
        }
        if (error) {
            put_back(control, bytes);
            return error;
        }
    }
    control->allowed = allowed;
    control->limited = bytes;
    control->change_back = change_back;
    control->quick = false;
    return {};
}

access current_access(const range* control) noexcept { return control->allowed; }

void name(range* control, const char* text) noexcept {
    rewriting(control).label(text);
    control->named = text != nullptr;
    control->change_back = change_back;
    control->quick = false;
    (void)name(control->part(0, control->size()), text);
}

void copy_name(const range* from, range* to) noexcept {
    if (!from->named) return;
    char text[longest_name + 1];
    copy_label(from, text);
    name(to, text);
}

}}}    // namespace headroom::detail
