/* SPDX-License-Identifier: MIT */
/*
 * A logical buffer with copies in the memories where it was needed (PTask, SOSP'11, 3.3 and 5.2). A copy is absent, in
 * transfer or being written (its marker says until when), or valid. A block that one has been written is never written
 * again, so all its copies agree.
 */
#ifndef PTSCHED_DEVICE_DATABLOCK_HPP
#define PTSCHED_DEVICE_DATABLOCK_HPP

#include <ptsched/device/device.hpp>
#include <ptsched/device/view.hpp>

#include <atomic>
#include <functional>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>

#pragma GCC visibility push(default)

namespace ptsched::device {

class Datablock;
using DatablockPtr = std::shared_ptr<Datablock>;

/*
 * Thread-safe. Who gives a queue work that uses a block keeps the pointer until that work is done: the last pointer
 * gives the memory back.
 */
class Datablock : public std::enable_shared_from_this<Datablock> {
public:
    /* With a copy of @bytes at @data, on the host. */
    static DatablockPtr of(const void *data, std::size_t bytes);
    /* The same of what is an array already: a vector, an array, a span, a string. */
    template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range>
    static DatablockPtr of(const Range &values)
    {
        using Value = std::ranges::range_value_t<Range>;
        static_assert(std::is_trivially_copyable_v<Value>, "a datablock has bytes, which are no objects of that type");
        return of(static_cast<const void *>(std::ranges::data(values)), std::ranges::size(values) * sizeof(Value));
    }
    template <typename T> static DatablockPtr of(const View<T> &values) { return of(values.span()); }
    template <typename T> static DatablockPtr of(std::initializer_list<T> values)
    {
        return of(std::span<const T>(values.begin(), values.size()));
    }
    /* With what @fill writes there; null if it says that it did not. */
    static DatablockPtr filled(std::size_t bytes, const std::function<bool(void *to)> &fill);
    /*
     * With @data itself as the copy on the host, which belongs to @owner and is never written. Whichever thread happens
     * to be the last to need it lets go of @owner, and may have a device's context then, which it must not change.
     */
    static DatablockPtr over(const void *data, std::size_t bytes, std::shared_ptr<const void> owner);
    /* The same with what is at @address of @device. */
    static DatablockPtr over(Device &device, Address address, std::size_t bytes, std::shared_ptr<const void> owner);
    /*
     * With what is at @data as its copy on the host, which is the caller's: it comes back to that very place, where the
     * caller may write when nothing is on its way there, and says so by written_at_home(). The memory must stay as long
     * as the block. Rows are dense on devices; read() gives @data.
     */
    static DatablockPtr at_home(void *data, const Rows &rows);
    /* To be written by produce(). */
    static DatablockPtr empty(std::size_t bytes);
    /* For work that renews it each time: when it makes room, nobody misses the content. */
    static DatablockPtr scratch(std::size_t bytes);

    Datablock(const Datablock &) = delete;
    Datablock &operator=(const Datablock &) = delete;

    std::size_t bytes() const;
    /* How many elements of so many bytes it has; throws Error if it is not a whole number of them. */
    std::size_t elements(std::size_t bytes_of_each) const;
    /* Whether it has been written, or will be by work that a queue has. */
    bool has_content() const;

    /* The content, on the host. Blocks until it is there; throws Error if what produces it fails. */
    const void *read();
    /* The same as an array, which keeps the block; throws Error if it is not a whole number of elements. */
    template <typename T> View<T> as()
    {
        const std::size_t size = elements(sizeof(T));
        return {shared_from_this(), static_cast<const T *>(read()), size};
    }

    /* The same, into the caller's memory: where nothing is on the host yet, nothing will be. */
    void read_into(void *to);

    /* Blocks until the content is there, wherever that is; throws Error if what produces it fails. */
    void wait();

    /* Begins to bring the content to the host, so that read() is faster. */
    void bring_to_host();
    /*
     * The same to any device, for work to come; it may go again when memory is needed. A hint: nothing happens if there
     * is no content yet, or no memory. May wait for work whose datablocks make room. Throws Error as use() does.
     */
    void prefetch(Device &device);
    /* The same by a queue of the device, which is not the host. */
    void prefetch(Device &device, Queue &queue);
    /* @reads is to be one more when the content is first read from now on. */
    void count_in(const std::shared_ptr<std::atomic<unsigned>> &reads);

    /* How many copies had to go because the memory was needed. */
    std::uint64_t evictions() const;
    /* How much would have to be moved for use() there. */
    std::size_t missing(const Device &device) const;
    /* An address that is valid for work given to @queue after this. The copy stays; Access is for one that may go. */
    Address use(Device &device, Queue &queue);
    /* An address that work given to @queue after this writes; then @written is to be called, once. */
    Address produce(Device &device, Queue &queue);
    void written(const MarkerPtr &marker);
    struct Missing {
        std::size_t bytes = 0;         /* see missing() */
        const void *on_host = nullptr; /* where they can be copied from, as long as somebody keeps the block */
    };
    /*
     * What is missing on @device. It is said where it is on the host if it is there and nobody has asked before: who
     * asks again is served better by use().
     */
    Missing first_use(const Device &device);
    /*
     * Of a block at home, which nobody uses that has not given a queue its work: what is at home, or on its way there,
     * is the content from now on, and copies on devices are not. Their memory serves the next ones, or goes when it is
     * needed.
     */
    void written_at_home();
    /* Reached when the content is on the host; null unless it is on its way. Who asks will read it there. */
    MarkerPtr arrival_on_host();
    /* Whether somebody has asked for the content on the host since it was written. */
    bool was_read() const;
    /* Whether the copy on @device is somebody else's, and is not written. */
    bool is_foreign(const Device &device) const;
    struct Shared {
        Device *device;
        ShareHandle handle;
        std::shared_ptr<const void> pin;
    };
    /*
     * A copy that other processes can map, for as long as somebody has the pin, which keeps the block, too; nothing if
     * there is none. Blocks until the content is there; throws Error if what produces it fails.
     */
    std::optional<Shared> share();
    /* Where the host's copy is, or 0. */
    Address host_address() const;
    /* Where the work that writes it is, or null: what follows it there need not wait. */
    const Queue *queue() const;

protected:
    Datablock() = default;
    ~Datablock() = default;
};

/*
 * Whether nobody but so many, whom the caller knows, has the block. What others did with it before they let go of it
 * comes before what the caller does then: the fence pairs with their letting go, or, for a sanitizer, which knows none,
 * a copy.
 */
inline bool is_held_by(const DatablockPtr &block, long known)
{
    if (block.use_count() != known)
        return false;
#ifdef PTSCHED_THREAD_SANITIZER
    DatablockPtr ordered(block);
#else
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
    return true;
}

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_DATABLOCK_HPP */
