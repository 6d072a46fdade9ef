/* SPDX-License-Identifier: MIT */
/*
 * Memory by its kind, for who works with addresses: datablocks need none of it. It is given back with its object.
 *
 *	auto queues = Allocation::pinned(1 << 20);
 *	auto arena = Allocation::one_address(gpus(), 64 << 20);
 *	if (arena.reached_by(*gpus()[1]))
 *		...
 */
#ifndef PTSCHED_DEVICE_ALLOCATION_HPP
#define PTSCHED_DEVICE_ALLOCATION_HPP

#include <ptsched/device/device.hpp>

#pragma GCC visibility push(default)

namespace ptsched::device {

enum class Space {
    device,     /* of a device's pool: datablocks that nobody uses make room for it */
    pinned,     /* of the host's pool: GPUs copy from it without a detour, and their code reaches it */
    managed,    /* the driver moves it to who uses it, page by page */
    registered, /* the caller's own, which is pinned for as long as this lives */
    mapped,     /* of one device, at an address that is the same for several */
};
const char *to_string(Space space);

/* What the driver may assume of managed memory. */
enum class Advice { read_mostly, preferred_location, accessed_by };

/*
 * Movable; moved from or made without arguments, it is of no bytes. One thread at a time may change it, any may ask.
 * Whoever has it sees to it that no work uses the memory any more when it goes. What makes one throws OutOfMemory if
 * there is not as much memory, even if what nobody uses makes room; Error if the device or its driver has no such
 * memory, with what is missing.
 */
class Allocation {
public:
    /* Of @device, the host included. May wait for work whose datablocks make room. */
    static Allocation on_device(Device &device, std::size_t bytes);
    /* Without a GPU, ordinary memory. */
    static Allocation pinned(std::size_t bytes);
    /* Its pages are on no device before somebody uses them. All GPUs that have managed memory reach it. */
    static Allocation managed(Device &gpu, std::size_t bytes);
    /*
     * @memory stays the caller's, and must stay as long. None of it may be registered already. Takes long for much
     * memory. Without a GPU it is what it was.
     */
    static Allocation registered(void *memory, std::size_t bytes);
    /*
     * Of the first of @devices, at an address where all of them reach it: mapped where they are GPUs that can (they are
     * peers, and the driver has virtual memory management), in whole pages of the device, which are large; else
     * managed. One device alone gets memory of its pool. May wait as on_device().
     */
    static Allocation one_address(std::span<Device *const> devices, std::size_t bytes);

    Allocation();
    Allocation(Allocation &&other) noexcept;
    Allocation &operator=(Allocation &&other) noexcept;
    ~Allocation();

    /* For the following, it must not be empty. */
    Space space() const;
    /* On which it is, or whose driver has made it. */
    Device &home() const;
    /* As asked for. */
    std::size_t bytes() const;
    /* For code of devices that reach it. */
    Address address() const;
    /* For the host's code; null where that does not reach it. */
    void *host_address() const;
    /* Whether code of @device finds it at its address. Makes devices peers that can be. Thread-safe. */
    bool reached_by(Device &device) const;
    bool empty() const { return !backing_; }

    /*
     * Hints, which change nothing but times: without effect on what is not managed, or where the device or its driver
     * knows no such thing. Device: the host is one.
     */
    void advise(Advice advice, Device &device);
    void withdraw(Advice advice, Device &device);
    /* Moves it there, in the order of @queue, which is a GPU's. */
    void prefetch(Device &to, Queue &queue);
    /* The same of some of it: so many bytes, from that one on. Throws Error if there are not as many. Thread-safe. */
    struct Part {
        std::size_t from, bytes;
    };
    void advise(Advice advice, Device &device, const Part &part);
    void withdraw(Advice advice, Device &device, const Part &part);
    void prefetch(Device &to, Queue &queue, const Part &part);

    class Backing; /* of each kind */
    explicit Allocation(std::unique_ptr<Backing> backing);

private:
    std::unique_ptr<Backing> backing_;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_ALLOCATION_HPP */
