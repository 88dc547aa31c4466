// A vector whose elements live in a file: it outlives the process, may exceed memory, and other processes watch it grow.
//
// The file is mapped into a reserved range of addresses and grows in place, so appending is a store, as in settled_vector, and
// elements never move. One process writes at a time; any number read meanwhile.
//
// Choose it for data that must survive a crash (commit), for data larger than memory, and to share data with another process
// without sending it (publish, refresh). Choose settled_vector for data that end with the process: it needs no disk.
//
// What survives what:
//   - what was *committed* survives everything: a crash of the program, a full disk, a power cut. Opening finds exactly the
//     size of the newest commit. That goes for elements that were appended; one that is overwritten in place after its commit
//     may be found old or new (see commit());
//   - what was *published* other processes see at once. It outlives the writer's end, but not a power cut;
//   - the destructor commits if the size has changed since the last commit. It cannot report a failure: close() can.
//
// How it differs from settled_vector: elements must be storable<T>; it is made by create() and open(), and cannot be copied; a
// full disk is `refused`, and what is wrong with the file is a file_error. The space of an element is allocated on the disk
// before the element can be touched, so that a full disk never is a signal. (File systems that write each change to another
// place (btrfs, ZFS, copies that share blocks) may break that promise.)
//
// After fork() the child's copy reads, and sees what the parent publishes (refresh); growing, commit() and close() are refused
// there, writing to an element faults, and its destructor leaves the file alone. A child made by posix_spawn has no part in it.
//
// A file that another program makes shorter while it is mapped: touching what is gone is a signal (SIGBUS); if it was made
// shorter than its header, publish() and refresh() touch what is gone. checked_read() does not use the mapping, and returns how
// many elements are left. Closing the vector is safe. (No file_vector cuts a file that another one reads, but for a forked child's.)
//
// Descriptors that somebody else closed (closefrom): a vector knows its file by device and inode. It neither writes to, cuts nor closes
// what got their numbers, and grows and commits no more.
//
// An object may be used by one thread at a time, as std::vector. Windows, older POSIX systems: docs/platforms.md.
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

namespace headroom { inline namespace v0_1 {

// How a file grows. Derive from it and override what should differ.
struct file_policy {
    // Each step is the bytes in use, divided by growth_fraction, but no less than min_step and no more than max_step. The step
    // is allocated on the disk at once, and what is not used of it goes again when the vector is closed. (Smaller steps cost:
    // with 32 KiB, ext4 takes ten times as long.)
    static constexpr std::size_t growth_fraction = 8;
    static constexpr std::size_t min_step = std::size_t{1} << 20;
    static constexpr std::size_t max_step = std::size_t{64} << 20;
};

// What may be done with a file.
enum class file_access : std::uint8_t {
    read_only,     // any number may
    read_write,    // one at a time
};

struct file_options {
    // What the elements are, in up to 63 bytes; a file can be opened only with the tag it was made with. Null or empty: the
    // tag of the type ("int32", "float64[3]"; of a class its name, "shop::order"). Give one where a class may be renamed, or is a
    // template and several compilers' programs open the file.
    const char* type_tag = nullptr;
    // Who may open a file that is made; the process's mask is taken off. The owner has to be among those who may read and write it:
    // a writer opens it a second time, for its lock. (Windows goes by the folder's rights.)
    std::filesystem::perms permissions = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write |
                                         std::filesystem::perms::group_read | std::filesystem::perms::others_read;
};

template <class T, class Policy = file_policy>
    requires storable<T>
class HEADROOM_HARDENED_ABI file_vector : public detail::sequence_<detail::file_store_<T, Policy>> {
#if defined(HEADROOM_NO_FILE)
    static_assert(sizeof(T) == 0, "this library was built without arrays in files: configure it with -DHEADROOM_FILE=ON");
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

    // Without a file: empty, and max_size() is 0.
    constexpr file_vector() noexcept = default;

    // Makes a file and opens it for writing; it appears at `path` whole, and at once durable. Reserves addresses for `limit`
    // elements. O(1): about ten system calls, and it waits for the disk.
    // Throws file_error where the system refuses, above all when something is at `path` already; `refused` where address space or
    // the disk is short; std::length_error where no array can be that long. Nothing is left behind.
    static file_vector create(const std::filesystem::path& path, max_elements limit, file_options options = {}) {
        return file_vector(detail::make_file_for(path, detail::identity_of<T>(options.type_tag), limit.value, store_::steps_(),
                                                 static_cast<unsigned>(options.permissions)));
    }

    // Opens a file that create() made. A writer finds what was committed last; a reader what a writer has published, if there is
    // one, else what was committed. Reserves addresses for `limit` elements: a writer cannot append more, a reader sees no more
    // of them. O(1): about twenty system calls.
    // Throws file_error where the system refuses, where another process or vector writes to the file (code():
    // resource_unavailable_try_again) and where it is not a whole file of such elements (field() says what is wrong); `refused`
    // where address space or the disk is short; std::length_error where more than `limit` elements are committed.
    static file_vector open(const std::filesystem::path& path, file_access access, max_elements limit,
                            file_options options = {}) {
        return file_vector(detail::open_file_of(path, detail::identity_of<T>(options.type_tag),
                                                detail::tag_of<T>(options.type_tag, detail::class_tag::legacy), limit.value,
                                                store_::steps_(), access == file_access::read_write));
    }

    file_vector(const file_vector&) = delete;
    file_vector& operator=(const file_vector&) = delete;
    // O(1). Invalidate: nothing; `other` is without a file. Assigning closes the file that *this had, as the destructor does.
    file_vector(file_vector&& other) noexcept : base_(other.extract_()) {}
    file_vector& operator=(file_vector&& other) noexcept {
        if (this != std::addressof(other)) {
            detail::close_control(control_, this->size(), false);
            this->adopt_(other.extract_());
        }
        return *this;
    }
    // Replaces the elements. Throws as assign() does.
    file_vector& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }

    // Commits if the size has changed since the last commit, lets the file end after its elements, unless somebody reads it, and
    // closes it. A failure to
    // commit goes unnoticed: what was committed before is there then. Invalidates: every element.
    HEADROOM_ALWAYS_INLINE ~file_vector() { detail::close_control(control_, this->size(), false); }

    // The same, but throws what commit() throws, once all is given back. The vector is then without a file.
    void close() {
        const std::size_t size = this->size();
        detail::file_control* const control = control_;
        static_cast<void>(this->extract_());
        detail::close_control(control, size, true);
    }

    // Whether there is a file.
    [[nodiscard]] bool is_open() const noexcept { return control_ != nullptr; }
    // Whether this vector may write to it.
    [[nodiscard]] bool is_writer() const noexcept { return detail::may_write(control_); }

    // O(1). Invalidates: nothing; elements change owners.
    void swap(file_vector& other) noexcept { this->swap_store_(other); }

    // --- What other processes, and later ones, see.

    // Readers see size() elements from now on, as they are. Costs a store. Nothing for a reader.
    void publish() noexcept { detail::publish(control_, this->size()); }

    // Returns when all elements have reached the disk, and the file has size() elements for every later open(), whatever
    // happens from now on. Publishes too. Costs two waits for the disk. (Small commits write up to 256 KiB behind the elements along,
    // as they are: blocks that were written to once are faster the next time.)
    // It makes *appending* atomic: until the size of a commit is recorded, the one before it stands. What is overwritten, erased
    // or inserted in place below committed_size() goes to the disk whenever the system likes; if the power fails before the next
    // commit, it is found old or new, sector by sector.
    // Throws file_error when the system refuses, and where another program made the file shorter. Once the disk has refused, the
    // file has what an earlier commit left, or this one. Since the system forgets what it could not write, this vector then neither
    // commits, publishes, grows nor cuts the file any more (is_writer() is false): open it again, which says what was found.
    void commit() {
        T* const room = std::exchange(cap_, end_);    // where it fails, the next append asks
        detail::commit(control_, this->size());
        cap_ = room;
    }

    // The size at the last commit: of this vector or, for a reader, of the writer. A reader reads the file: a system call.
    [[nodiscard]] size_type committed_size() const noexcept { return detail::committed_size(control_); }

    // A reader: takes over the size that the writer has published last (without a writer, what is committed), up to max_size(),
    // and up to what the file really holds. A load, and a system call where the file has grown. Nothing for a writer.
    // Invalidates: end(), and the elements past size().
    void refresh() noexcept {
        if (detail::may_write(control_)) return;
        end_ = begin_ + detail::refresh(control_, this->size());
        cap_ = end_;
    }

    // Copies elements from `first` on to `to` and returns how many there were, fewer than asked for where the file ends: for
    // readers whose file another program may cut. Does not look at size(). A system call; O(elements).
    [[nodiscard]] size_type checked_read(size_type first, std::span<T> to) const noexcept {
        if (first >= limit_) return 0;
        const size_type most = limit_ - first;
        return detail::read_elements(control_, first, to.data(), to.size() < most ? to.size() : most);
    }

    // --- As settled_vector's.

    // Ends the file after size() elements, or after committed_size() if that is more; the disk space past them is freed.
    // Cannot fail: if the system refuses, or somebody reads the file, it keeps its space. Invalidates: nothing. Nothing for a reader.
    void shrink_to_fit() noexcept { cap_ = begin_ + detail::shrink(control_, this->size()); }

    // Room for exactly `limit` elements, elsewhere among the addresses; no element is copied. Access is what it was at first.
    // Throws std::length_error when limit.value < size() or there is no file, `refused`; nothing has changed then.
    // Invalidates: every pointer, reference and iterator.
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

    // What may be done with the elements in this process from now on; a reader's are read_only from the start, and stay that at
    // most. Throws std::system_error when the system refuses. Invalidates: nothing, but a forbidden touch faults.
    void protect(access allowed) {
        if (const std::error_code error = try_protect(allowed)) detail::throw_system_error(error, "headroom: protect()");
    }
    [[nodiscard]] std::error_code try_protect(access allowed) noexcept {
        return control_ == nullptr ? std::error_code{} : detail::protect(control_, allowed);
    }
    [[nodiscard]] access current_access() const noexcept {
        return control_ == nullptr ? access::read_write : detail::current_access(control_);
    }

    // Names the range for owner_of() and reservations(); before, it has the file's name. Cut to 79 bytes.
    void name(const char* text) noexcept {
        if (control_ != nullptr) detail::set_name(control_, text);
    }

private:
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

// Erase every element equal to `value`, or for which `predicate` holds; return their number. O(size()).
// Invalidate: the erased elements and all behind the first of them.
template <class T, class Policy, class U = T>
typename file_vector<T, Policy>::size_type erase(file_vector<T, Policy>& container, const U& value) {
    HEADROOM_CONVERSIONS_BEGIN
    return detail::erase_matching(container, [&](T& element) -> bool { return (element == value) ? true : false; });
    HEADROOM_CONVERSIONS_END
}
template <class T, class Policy, class Predicate>
typename file_vector<T, Policy>::size_type erase_if(file_vector<T, Policy>& container, Predicate predicate) {
    return detail::erase_matching(container, std::move(predicate));
}

}}    // namespace headroom
