/* SPDX-License-Identifier: MIT */
/*
 * A datablock in slices, which different work reads and writes at the same time, on one device or on several. Each is a
 * datablock of its own; on the device where it was divided, it is at its place in the whole, and nothing is copied.
 *
 *	Slices slices(whole, gpu, queue, Slices::equal(whole->bytes(), 4));
 *	Access::Item item = Access::changes(*slices[2]);
 *	...
 *	slices.join(queue);
 */
#ifndef PTSCHED_DEVICE_SLICES_HPP
#define PTSCHED_DEVICE_SLICES_HPP

#include <ptsched/device/datablock.hpp>

namespace ptsched::device {

struct SlicesImpl;

} // namespace ptsched::device

#pragma GCC visibility push(default)

namespace ptsched::device {

/* One thread at a time; the slices are as thread-safe as all datablocks. */
class Slices {
public:
    /* Sizes for about as much each, in bytes; fewer than @count if the last would be empty. */
    static std::vector<std::size_t> equal(std::size_t bytes, std::size_t count);

    /*
     * Divides @whole on @device, where its content comes to be, in the order of @queue; without a content it gets none,
     * and each slice is to be written first. Nobody uses @whole until join(): it throws Error. @bytes says how much
     * each slice has, in their order: all of @whole together, and all but the last a multiple of allocation_alignment.
     * Blocks for work that uses other copies, which go; may wait for memory. Throws OutOfMemory, and Error as Access
     * does or with what is wrong; then @whole is as before.
     */
    Slices(DatablockPtr whole, Device &device, Queue &queue, std::span<const std::size_t> bytes);
    /* Without join(), the content is lost: whoever uses the whole is told so. */
    ~Slices();
    Slices(const Slices &) = delete;
    Slices &operator=(const Slices &) = delete;

    std::size_t size() const;
    /* Whoever has work that uses it keeps it, as any datablock. */
    const DatablockPtr &operator[](std::size_t slice) const;

    /*
     * Makes it whole, with what the slices have, in the order of @queue and after the work that writes them; those that
     * are elsewhere are copied to their place. Who reads them on the host is to have done so. From then on the slices
     * cannot be used. Throws Error if one was never written, or as Access does: then it is not joined.
     */
    void join(Queue &queue);

private:
    const std::unique_ptr<SlicesImpl> impl_;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_SLICES_HPP */
