// SPDX-License-Identifier: MIT
// Blocks of memory, ranges of addresses, files; and how many addresses an array gets that does not say what it needs.
#include "storage.hpp"

#include <headroom/file_vector.hpp>
#include <headroom/reservation.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace headroom_python {
namespace {

// --- Addresses. The first array may get 16 GiB of them. The more are taken the less a new one gets: the square of the part that
// is left. So tens of thousands of arrays find room, and the last tenth stays free for threads and other libraries.

constexpr std::size_t all_addresses = sizeof(void*) >= 8 ? std::size_t{1} << 47 : std::size_t{1} << 31;
constexpr std::size_t most_by_default = sizeof(void*) >= 8 ? std::size_t{1} << 34 : std::size_t{1} << 26;
constexpr std::size_t least_by_default = std::size_t{1} << 20;
constexpr std::size_t small_block = std::size_t{64} << 10;    // no range is worth while for less

std::atomic<std::size_t> addresses_taken{0};
std::atomic<std::size_t> mappings_taken{0};

// Mappings that a process may have: Linux counts them, and threads need some too.
std::size_t all_mappings() {
    static const std::size_t number = [] {
        std::ifstream file("/proc/sys/vm/max_map_count");
        std::size_t read = 0;
        return file >> read ? read : (std::numeric_limits<std::size_t>::max)();
    }();
    return number;
}

[[noreturn]] void refuse(const char* what, std::size_t bytes) {
    throw headroom::refused(what, bytes, std::make_error_code(std::errc::not_enough_memory));
}

// A part of the addresses, counted for as long as this lives.
class taken_addresses {
public:
    taken_addresses() noexcept = default;
    // Delegates first, so that the destructor undoes the counting if this throws.
    taken_addresses(std::size_t bytes, std::size_t mappings) : taken_addresses() {
        const std::size_t addresses = addresses_taken.fetch_add(bytes) + bytes;
        bytes_ = bytes;
        if (addresses > all_addresses / 10 * 9) {
            refuse("reserve address space for an array: a tenth of it is left for others", bytes);
        }
        const std::size_t number = mappings_taken.fetch_add(mappings) + mappings;
        mappings_ = mappings;
        if (number > all_mappings() / 10 * 9) {
            refuse("reserve address space for an array: there are too many (vm.max_map_count)", bytes);
        }
    }
    taken_addresses(taken_addresses&& other) noexcept
        : bytes_(std::exchange(other.bytes_, 0)), mappings_(std::exchange(other.mappings_, 0)) {}
    taken_addresses& operator=(taken_addresses&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(mappings_, other.mappings_);
        return *this;
    }
    ~taken_addresses() {
        if (bytes_ != 0) addresses_taken -= bytes_;    // (counting nothing back would wait for other processors, too)
        if (mappings_ != 0) mappings_taken -= mappings_;
    }

private:
    std::size_t bytes_ = 0;
    std::size_t mappings_ = 0;
};

struct range {
    taken_addresses taken;
    headroom::reservation addresses;
};

range reserve_exactly(std::size_t bytes) {
    range made;
    made.taken = taken_addresses(bytes, 2);
    made.addresses = headroom::reservation(bytes, headroom::huge_pages());
    return made;
}

// Room for `needed` bytes, and for as many more as there are addresses left. Where the system has fewer (ulimit -v), a small part
// of what it would give: others need some, too.
range reserve_by_default(std::size_t needed) {
    std::size_t wanted = (std::max)(bytes_by_default(), needed <= all_addresses / 4 ? needed * 2 : needed);
    range made;
    for (bool short_of_them = false;; short_of_them = true) {
        made.taken = taken_addresses(wanted, 2);
        std::error_code error;
        made.addresses = headroom::reservation::up_to(wanted, (std::max)(needed, std::size_t{1}), headroom::huge_pages(), error);
        if (error) throw headroom::refused("reserve address space for an array", needed, error);
        const std::size_t got = made.addresses.reserved();
        if (got >= wanted || short_of_them) return made;
        wanted = (std::max)({got / 256, least_by_default, needed <= got / 2 ? needed * 2 : needed});
        made.addresses = {};
        if (got < 64 * least_by_default) refuse("reserve address space for an array: the last is left for others", needed);
    }
}

class memory_storage final : public storage {
public:
    explicit memory_storage(std::optional<std::size_t> said) : said_(said.has_value()) {
        limit = said.value_or((std::numeric_limits<std::size_t>::max)() / 8);
        if (said_ && limit > small_block) move_to(reserve_exactly(limit));
    }
    ~memory_storage() override { std::free(block_); }

    void prepare(std::size_t bytes) override {
        if (bytes > limit) throw std::length_error("headroom: past max_elements");
        if (!range_.addresses) {
            if (bytes > small_block) settle_for(bytes);
        } else if (bytes > range_.addresses.reserved()) {
            if (viewed != 0) {
                refuse("grow an array in place, and others have views of it: pass max_elements when it is made", bytes);
            }
            move_to(reserve_by_default(bytes));
        }
    }

    std::size_t make_room(std::size_t bytes) override {
        if (!range_.addresses) {
            const std::size_t wanted = (std::min)((std::max)({bytes, room * 2, std::size_t{64}}), (std::min)(small_block, limit));
            resize_block((std::max)(wanted, bytes));
            return block_bytes_;
        }
        if (const std::error_code error = range_.addresses.commit_to(bytes)) {
            throw headroom::refused("commit memory for an array", bytes, error);
        }
        return usable();
    }

    void settle() override {
        if (!range_.addresses) settle_for(used);
    }

    void shrink() noexcept override {
        if (range_.addresses) {
            range_.addresses.decommit_from((std::max)(used, viewed));
            room = usable();
        } else if (used != 0) {
            try {
                resize_block(used);
                room = block_bytes_;
            } catch (const std::bad_alloc&) {    // it stays as it is
            }
        }
    }

    void close() override {
        writable = false;
        room = used;
        if (viewed != 0) return;
        std::free(std::exchange(block_, nullptr));
        range_ = {};
        data = nullptr;
        used = room = 0;
    }

    [[nodiscard]] std::size_t resident() const noexcept override {
        return range_.addresses ? range_.addresses.committed() : block_bytes_;
    }

private:
    [[nodiscard]] std::size_t usable() const noexcept { return (std::min)(range_.addresses.committed(), limit); }

    void settle_for(std::size_t bytes) {
        move_to(said_ ? reserve_exactly((std::max)(limit, std::size_t{1})) : reserve_by_default(bytes));
    }

    void move_to(range to) {
        if (const std::error_code error = to.addresses.commit_to(used)) {
            throw headroom::refused("commit memory for an array", used, error);
        }
        if (used != 0) std::memcpy(to.addresses.data(), data, used);
        std::free(std::exchange(block_, nullptr));
        block_bytes_ = 0;
        range_ = std::move(to);
        data = range_.addresses.data();
        room = usable();
    }

    void resize_block(std::size_t bytes) {
        void* const made = std::realloc(block_, bytes);
        if (made == nullptr) throw std::bad_alloc();
        block_ = made;
        block_bytes_ = bytes;
        data = static_cast<std::byte*>(made);
    }

    const bool said_;
    void* block_ = nullptr;
    std::size_t block_bytes_ = 0;
    range range_;
};

class file_storage final : public storage {
public:
    file_storage(const std::filesystem::path& path, file_mode mode, const headroom::detail::element_identity& elements,
                 std::optional<std::size_t> said)
        : width_(elements.size) {
        std::error_code none_there;
        const std::uintmax_t bytes = std::filesystem::file_size(path, none_there);
        const std::size_t twice = none_there ? 0 : static_cast<std::size_t>(bytes) * 2;
        limit = said.value_or((std::max)(bytes_by_default(), twice)) / width_ * width_;
        taken_ = taken_addresses(limit, 4);
        const bool there = mode == file_mode::read || mode == file_mode::append_there ||
                           (mode == file_mode::append && std::filesystem::exists(path));
        using steps = headroom::file_policy;
        const headroom::detail::growth_steps by{steps::growth_fraction, steps::min_step, steps::max_step};
        const headroom::detail::held_file held =
            there ? headroom::detail::open_file_of(path, elements, elements.tag, limit / width_, by, mode != file_mode::read)
                  : headroom::detail::make_file_for(path, elements, limit / width_, by,
                                                    static_cast<unsigned>(headroom::file_options{}.permissions));
        control_ = held.control;
        writable = headroom::detail::may_write(control_);
        data = held.elements;
        used = held.size * width_;
        room = writable ? (std::min)(held.usable * width_, limit) : used;
    }
    ~file_storage() override { headroom::detail::close_control(control_, used / width_, false); }    // and it is committed

    void prepare(std::size_t bytes) override {
        if (bytes > limit) throw std::length_error("headroom: past max_elements");
    }
    std::size_t make_room(std::size_t bytes) override {
        headroom::detail::failure why;
        const std::size_t usable = headroom::detail::grow(control_, used / width_, bytes / width_, false, why);
        if (why) headroom::detail::throw_grow_failure(control_, bytes / width_, why);
        return (std::min)(usable * width_, limit);
    }
    void shrink() noexcept override {
        if (!writable) return;
        room = (std::min)(headroom::detail::shrink(control_, (std::max)(used, viewed) / width_) * width_, limit);
    }
    void publish() noexcept override { headroom::detail::publish(control_, used / width_); }
    void commit() override {
        if (writable) headroom::detail::persist(control_, used / width_);
    }
    [[nodiscard]] std::size_t committed() const noexcept override {
        return writable ? headroom::detail::committed_size(control_) * width_ : 0;
    }
    void begin_in_child() noexcept override {
        if (std::exchange(writable, false)) room = used;
    }
    [[nodiscard]] bool is_new() const noexcept override { return writable && headroom::detail::never_committed(control_); }
    [[nodiscard]] bool failed() const noexcept override { return writable && !headroom::detail::may_write(control_); }
    void refresh() noexcept override {
        if (!writable && control_ != nullptr) room = used = headroom::detail::refresh(control_, used / width_) * width_;
    }
    void close() override {
        if (viewed == 0) {
            headroom::detail::file_control* const control = std::exchange(control_, nullptr);
            const std::size_t count = used / width_;
            writable = false;
            data = nullptr;
            used = room = 0;
            taken_ = {};
            headroom::detail::close_control(control, count, true);
            return;
        }
        room = used;
        if (std::exchange(writable, false)) headroom::detail::end_writing(control_, used / width_, viewed / width_);
    }

private:
    const std::size_t width_;
    taken_addresses taken_;
    headroom::detail::file_control* control_ = nullptr;
};

}    // namespace

std::size_t bytes_by_default() noexcept {
    const std::size_t taken = (std::min)(addresses_taken.load(), all_addresses);
    const double left = static_cast<double>(all_addresses - taken) / static_cast<double>(all_addresses);
    return (std::max)(static_cast<std::size_t>(static_cast<double>(most_by_default) * left * left), least_by_default);
}

std::shared_ptr<storage> make_memory(std::optional<std::size_t> limit) { return std::make_shared<memory_storage>(limit); }

std::shared_ptr<storage> open_file(const std::filesystem::path& path, file_mode mode,
                                   const headroom::detail::element_identity& elements, std::optional<std::size_t> limit) {
    return std::make_shared<file_storage>(path, mode, elements, limit);
}

}    // namespace headroom_python
