// SPDX-License-Identifier: MIT
// A vector whose elements live in a file: it outlives the process, may exceed memory, and other processes watch it grow.
//
// The file is mapped into a reserved range of addresses and grows in place, so appending is a store, as in settled_vector, and elements
// never move. One process writes at a time; any number read meanwhile.
//
// Choose it for data that must survive a crash (commit), for data larger than memory, and to share data with another process without
// sending it (publish, refresh). Choose settled_vector for data that end with the process: it needs no disk.
//
// Durability:
//   - *committed* data survive everything: a crash of the program, a full disk, a power cut. Opening finds exactly the size of the
//     newest commit. That holds for appended elements; one overwritten in place after its commit may be found old or new (see
//     commit());
//   - other processes see *published* data at once. They outlive the writer's end, but not a power cut;
//   - the destructor commits if the size has changed since the last commit. It cannot report a failure: close() can.
//
// How it differs from settled_vector: elements must be storable<T>; create() and open() make it, and it cannot be copied; a full disk is
// `refused`, and a fault of the file a file_error. The space of an element is allocated on the disk before the element can be touched, so
// that a full disk never causes a signal; but file systems that write changes elsewhere (btrfs, ZFS, shared blocks) may break that.
//
// After fork() the child's copy reads, and sees what the parent publishes (refresh); growing, commit() and close() are refused there,
// writing to an element faults, and its destructor leaves the file alone. A child made by posix_spawn has no part in it.
//
// A file that another program truncates while it is mapped: touching the lost part is a signal (SIGBUS); if the header is cut, publish()
// and refresh() touch it. checked_read() does not use the mapping, and returns how many elements are left. Closing the vector is safe. No
// file_vector truncates a file that another one reads, except a forked child's.
//
// Descriptors closed by other code (closefrom): a vector knows its file by device and inode. It neither writes to, truncates nor closes
// another file with its number, and grows and commits no more.
//
// One thread at a time may use an object, as with std::vector. Windows, older POSIX systems: docs/platforms.md.
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <headroom/detail/file/file_error.hpp>
#include <headroom/detail/file/file_store.hpp>
#include <headroom/detail/file/storable.hpp>
#include <headroom/detail/vector/sequence.hpp>
#include <headroom/detail/vector/settled_store.hpp>    // max_elements
#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 {

// How a file grows. Derive from it, and override members to change them.
struct file_policy {
    // Each step is the bytes in use divided by growth_fraction, at least min_step and at most max_step. The step is allocated on the disk
    // at once; closing the vector frees the unused part. Smaller steps cost: with 32 KiB, ext4 takes ten times as long.
    static constexpr std::size_t growth_fraction = 8;
    static constexpr std::size_t min_step = std::size_t{1} << 20;
    static constexpr std::size_t max_step = std::size_t{64} << 20;
};

// Access to a file.
enum class file_access : std::uint8_t {
    read_only,     // any number of vectors
    read_write,    // one vector at a time
};

struct file_options {
    // Names the elements, in up to 63 bytes; a file can be opened only with the tag that it was made with. Null or empty: the tag of the
    // type ("int32", "float64[3]"; for a class its name, "shop::order"). Give one if a class may be renamed, or is a template and programs
    // of several compilers open the file.
    const char* type_tag = nullptr;
    // Permissions of a file that is made, less the process's umask. Must let the owner read and write: a writer opens the file a second
    // time, for its lock. Windows uses the folder's rights.
    std::filesystem::perms permissions = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write |
                                         std::filesystem::perms::group_read | std::filesystem::perms::others_read;
};

template <class T, class Policy = file_policy>
    requires storable<T>
class HEADROOM_HARDENED_ABI file_vector : public detail::sequence_<detail::file_store_<T, Policy>> {
#if defined(HEADROOM_NO_FILE)
    static_assert(sizeof(T) == 0, "this library was built without headroom::file: configure it with -DHEADROOM_FILE=ON");
#endif
    static_assert(std::is_trivially_copyable_v<T>, "elements are found in the file as they were left in memory");
    static_assert(alignof(T) <= 4096, "elements start at a page, and pages may be as small as 4096 bytes");
    using store_ = detail::file_store_<T, Policy>;
    using base_ = detail::sequence_<store_>;
    friend struct detail::file_access_of;
    using base_::begin_;
    using base_::cap_;
    using base_::control_;
    using base_::end_;
    using base_::limit_;

public:
    using typename base_::const_iterator;
    using typename base_::iterator;
    using typename base_::size_type;

    // A vector without a file: empty, and max_size() is 0.
    constexpr file_vector() noexcept = default;

    // Makes a file and opens it for writing; it appears at `path` whole and durable. Reserves addresses for `limit` elements. O(1): about
    // ten system calls, and it waits for the disk. Throws file_error when the system refuses, above all if `path` exists; `refused` when
    // address space or the disk is short; std::length_error if no array can be that long. Leaves nothing behind then.
    static file_vector create(const std::filesystem::path& path, max_elements limit, file_options options = {}) {
        return file_vector(detail::make_file_for(path, detail::identity_of<T>(options.type_tag), limit.value, store_::steps_(),
                                                 static_cast<unsigned>(options.permissions)));
    }

    // Opens a file that create() made. A writer finds what was committed last; a reader what a writer has published, or without a writer
    // what was committed. Reserves addresses for `limit` elements: a writer cannot append more, a reader sees no more. O(1): about fifteen
    // system calls. Throws file_error when the system refuses, if a second writer opens it (code(): resource_unavailable_try_again), and if
    // it is not a whole file of such elements (field() names the fault); `refused` when address space or the disk is short;
    // std::length_error if more than `limit` elements are committed, or no array can be that long.
    static file_vector open(const std::filesystem::path& path, file_access access, max_elements limit,
                            file_options options = {}) {
        return file_vector(detail::open_file_of(path, detail::identity_of<T>(options.type_tag),
                                                detail::tag_of<T>(options.type_tag, detail::class_tag::legacy), limit.value,
                                                store_::steps_(), access == file_access::read_write));
    }

    file_vector(const file_vector&) = delete;
    file_vector& operator=(const file_vector&) = delete;
    // O(1). Invalidate: nothing; `other` then has no file. Assigning closes the file of *this, like the destructor.
    file_vector(file_vector&& other) noexcept : base_(other.extract_()) {}
    file_vector& operator=(file_vector&& other) noexcept {
        if (this != std::addressof(other)) {
            detail::close_control(control_, this->size(), false);
            this->adopt_(other.extract_());
        }
        return *this;
    }
    // Replaces the elements. Throws like assign().
    file_vector& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }

    // Commits if the size has changed since the last commit, truncates the file after its elements unless another vector reads it,
    // and closes it. Ignores a failure to commit: the previous commit stands then. Invalidates: every element.
    HEADROOM_ALWAYS_INLINE ~file_vector() { detail::close_control(control_, this->size(), false); }

    // Closes like the destructor, but throws what commit() throws, once all is released. The vector then has no file.
    void close() {
        const std::size_t size = this->size();
        detail::file_control* const control = control_;
        static_cast<void>(this->extract_());
        detail::close_control(control, size, true);
    }

    // True if the vector has a file.
    [[nodiscard]] bool is_open() const noexcept { return control_ != nullptr; }
    // True if this vector may write to its file.
    [[nodiscard]] bool is_writer() const noexcept { return detail::may_write(control_); }

    // O(1). Invalidates: nothing; elements change owners.
    void swap(file_vector& other) noexcept { this->swap_store_(other); }

    // --- Operations that other processes see, and later ones.

    // Lets readers see size() elements. Costs a store. Does nothing for a reader.
    void publish() noexcept { detail::publish(control_, this->size()); }

    // Waits until all elements are on the disk and every later open() finds size() elements. Publishes too. Costs two waits for the disk.
    // Small commits also write up to 256 KiB behind the elements, unchanged, because blocks that were written to once are faster the next
    // time. It makes *appending* atomic: until the size of a commit is recorded, the one before it stands. Elements overwritten, erased or
    // inserted in place below committed_size() go to the disk at any time; if the power fails before the next commit, they are found old
    // or new, sector by sector. Throws file_error when the system refuses, and if another program truncated the file. Once the disk has
    // refused, the file has the contents of an earlier commit or of this one. Since the system forgets what it could not write, this
    // vector then neither commits, publishes, grows nor truncates the file any more (is_writer() is false): open it again.
    void commit() {
        T* const room = std::exchange(cap_, end_);    // if this throws, the next append checks
        detail::persist(control_, this->size());
        cap_ = room;
    }

    // Size at the last commit of this vector or, for a reader, of the writer. A reader reads the file: a system call.
    [[nodiscard]] size_type committed_size() const noexcept { return detail::committed_size(control_); }

    // Reader: takes over the size that the writer has published last (without a writer, the committed size), up to max_size() and to the
    // elements that the file really holds. A load, and a system call if the file has grown. Does nothing for a writer. Invalidates: end(),
    // and the elements past size().
    void refresh() noexcept {
        if (detail::may_write(control_)) return;
        end_ = begin_ + detail::refresh(control_, this->size());
        cap_ = end_;
    }

    // Copies elements from `first` on to `to` and returns their number, less than to.size() at the end of the file: for readers whose file
    // another program may truncate. Does not look at size(). A system call; O(elements).
    [[nodiscard]] size_type checked_read(size_type first, std::span<T> to) const noexcept {
        if (first >= limit_) return 0;
        const size_type most = limit_ - first;
        return detail::read_elements(control_, first, to.data(), to.size() < most ? to.size() : most);
    }

    // --- Operations of settled_vector.

    // Truncates the file after size() elements, or after committed_size() if that is more, which frees the disk space past them. Cannot
    // fail: if the system refuses, or another vector reads the file, it keeps its space. Invalidates: nothing. Does nothing for a reader.
    void shrink_to_fit() noexcept { cap_ = begin_ + detail::shrink(control_, this->size()); }

    // Reserves addresses for exactly `limit` elements elsewhere; copies no element. Resets the access to that of open(). Throws
    // std::length_error when limit.value < size() or there is no file, `refused`; nothing has changed then. Invalidates: everything.
    void rehome(max_elements limit) {
        if (control_ == nullptr || limit.value < this->size()) {
            detail::throw_length_error("headroom::file_vector: rehome() to less than size()");
        }
        const bool writer = detail::may_write(control_);
        const detail::held_file moved =
            detail::rehome({control_, reinterpret_cast<std::byte*>(begin_), this->size(), this->capacity(), limit_}, limit.value);
        begin_ = reinterpret_cast<T*>(moved.elements);
        end_ = begin_ + moved.size;
        cap_ = writer ? begin_ + moved.usable : end_;
        limit_ = moved.limit;
    }

    // Sets the access to the elements in this process; a reader's elements are read_only from the start, and at most that. Throws
    // std::system_error when the system refuses. Invalidates: nothing; a forbidden access faults.
    void protect(access allowed) {
        if (const std::error_code error = try_protect(allowed)) detail::throw_system_error(error, "headroom: protect()");
    }
    [[nodiscard]] std::error_code try_protect(access allowed) noexcept {
        return control_ == nullptr ? std::error_code{} : detail::protect(control_, allowed);
    }
    [[nodiscard]] access current_access() const noexcept {
        return control_ == nullptr ? access::read_write : detail::current_access(control_);
    }

    // Names the range for owner_of() and reservations(), which until then has the file's name; cut to 79 bytes.
    void name(const char* text) noexcept {
        if (control_ != nullptr) detail::set_name(control_, text);
    }

private:
    // Takes over an open, mapped file.
    explicit file_vector(const detail::held_file& held) noexcept : base_(held) {}
};

template <class T, class Policy>
void swap(file_vector<T, Policy>& a, file_vector<T, Policy>& b) noexcept {
    a.swap(b);
}

// Element by element. O(min(size)).
template <class T, class Policy>
[[nodiscard]] bool operator==(const file_vector<T, Policy>& a, const file_vector<T, Policy>& b) {
    return detail::equal_elements(a, b);
}
template <class T, class Policy>
    requires detail::ordered<T>
[[nodiscard]] auto operator<=>(const file_vector<T, Policy>& a, const file_vector<T, Policy>& b) {
    return detail::compare_elements(a, b);
}

// Erase every element equal to `value`, or for which `predicate` holds; return their number. O(size()). Throw file_error, before any
// element is moved, if the vector may not write to its file. Invalidate: the erased elements and all behind the first of them.
template <class T, class Policy, class U = T>
typename file_vector<T, Policy>::size_type erase(file_vector<T, Policy>& container, const U& value) {
    container.erase(container.cend(), container.cend());
    HEADROOM_CONVERSIONS_BEGIN
    return detail::erase_matching(container, [&](T& element) -> bool { return (element == value) ? true : false; });
    HEADROOM_CONVERSIONS_END
}
template <class T, class Policy, class Predicate>
typename file_vector<T, Policy>::size_type erase_if(file_vector<T, Policy>& container, Predicate predicate) {
    container.erase(container.cend(), container.cend());
    return detail::erase_matching(container, std::move(predicate));
}

}}    // namespace headroom
