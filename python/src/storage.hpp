// Where the elements of an array are: memory that grows in place, owned by the array and by everybody who was handed a view.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <headroom/reservation.hpp>

#include "kinds.hpp"

namespace headroom_python {

// Elements begin at `data` and never move. Whoever appends writes behind them, up to `room` bytes, and then counts them in
// `used`; all of that with Python's lock held. Destroyed by whoever is last, on any thread, without that lock.
class storage {
public:
    storage() = default;
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    virtual ~storage() = default;

    // Makes room for `bytes` in all, which is never less than `used`. Throws std::length_error past the limit,
    // headroom::refused when memory is refused.
    virtual void grow(std::size_t bytes) = 0;
    virtual void shrink() noexcept {}
    // Of a file: other processes see what there is; it survives a power cut; a reader takes over what the writer published.
    virtual void publish() {}
    virtual void commit() {}
    virtual void refresh() {}

    std::byte* data = nullptr;
    std::size_t used = 0;     // bytes
    std::size_t room = 0;     // bytes
    std::size_t limit = 0;    // bytes
    bool writable = true;
};

class memory_storage final : public storage {
public:
    // Room for `bytes`, or, where the caller does not say, for as much as the system allows up to what is the default.
    memory_storage(std::size_t bytes, bool said) {
        if (said) {
            range_ = headroom::reservation(bytes == 0 ? 1 : bytes, headroom::huge_pages());
            limit = bytes;
        } else {
            std::error_code error;
            range_ = headroom::reservation::up_to(bytes, std::size_t{1} << 20, headroom::huge_pages(), error);
            if (error) throw headroom::refused("reserve address space for an array", bytes, error);
            limit = range_.reserved();
        }
        data = range_.data();
        room = (std::min)(range_.committed(), limit);
    }

    void grow(std::size_t bytes) override {
        if (bytes > limit) throw std::length_error("headroom: past max_elements");
        if (const std::error_code error = range_.commit_to(bytes)) {
            throw headroom::refused("commit memory for an array", bytes, error);
        }
        room = (std::min)(range_.committed(), limit);
    }

    void shrink() noexcept override {
        range_.decommit_from(used);
        room = (std::min)(range_.committed(), limit);
    }

private:
    headroom::reservation range_;
};

}    // namespace headroom_python
