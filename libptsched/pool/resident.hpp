/* SPDX-License-Identifier: MIT */
/* A pool's kernel on one device, with the slots of its blocks. For one thread at a time, the pool's. */
#ifndef PTSCHED_POOL_RESIDENT_HPP
#define PTSCHED_POOL_RESIDENT_HPP

#include "libptsched/pool/task_queue.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/pool/slots.h>

#include <string>
#include <vector>

namespace ptsched::pool {

class Resident {
public:
    struct Shape {
        unsigned blocks, threads, shared_bytes, depth;
        std::size_t task_bytes;
    };

    Resident(device::Device &device, std::unique_ptr<device::Code> code, const Shape &shape);
    /* Nothing of it is on the device any more. */
    ~Resident() = default;

    device::Device &device() const { return device_; }
    const Shape &shape() const { return shape_; }

    /* Launches the kernel, whose blocks go on with what is in their slots. It must not be on the device. */
    void start();
    /* Tells the blocks to end what they have begun and to leave. Does not block. */
    void leave();
    /* Whether the kernel is on the device, or about to be. Throws device::Fault if it has failed. */
    bool is_there();
    bool leaves() const { return leaving_; }

    /* Whether there is a block on the device that has a free slot. */
    bool has_room();
    /* The block with the fewest tasks gets one: pieces from @task, whose label is kept. There must be room. */
    void give(const std::byte *task, const Label &label);
    /* Tasks that were given and not collected. */
    std::size_t in_flight() const { return in_flight_; }
    /*
     * @sink(label, write), for each result that is there, where write(to) copies its bytes; it returns false if it has
     * no place for it: then it stays, with all after it. Returns how many were taken.
     */
    template <typename Sink> std::size_t collect(Sink sink);
    /* The tasks that blocks have begun, or are the next to begin, as text. */
    std::string describe_begun() const;

private:
    static constexpr unsigned none = ~0U;

    struct Block {
        unsigned given = 0, collected = 0; /* numbers of tasks, the last ones */
        unsigned before = none, behind = none; /* of those with as many tasks: see loads_ */
        bool present = false;
    };

    Piece *pieces(std::size_t base, unsigned block, unsigned number) const;
    bool has_result(unsigned block) const;
    void copy_result(unsigned block, std::byte *to) const;
    void admit();
    void link(unsigned block);
    void unlink(unsigned block);
    unsigned load_of(unsigned block) const { return blocks_[block].given - blocks_[block].collected; }
    void ended();

    device::Device &device_;
    const std::unique_ptr<device::Code> code_;
    const Shape shape_;
    const unsigned pieces_;
    const std::unique_ptr<device::Queue> queue_;
    const device::Allocation shared_; /* with the GPU: tasks, results, notice, presence, first numbers */
    const device::Allocation lodge_;
    std::size_t results_at_ = 0, notice_at_ = 0, present_at_ = 0, first_at_ = 0;
    std::byte *memory_ = nullptr;

    std::vector<Block> blocks_;
    std::vector<Label> labels_;    /* [block][slot] */
    std::vector<unsigned> loads_;  /* by how many tasks they have: the block that was last to come to that */
    unsigned absent_ = 0;          /* blocks of this run that have not begun */
    std::size_t in_flight_ = 0;
    unsigned run_ = 0, bell_ = 0;
    bool leaving_ = false;
    device::MarkerPtr end_; /* of the run; null: none */
};

template <typename Sink> std::size_t Resident::collect(Sink sink)
{
    std::size_t taken = 0;
    for (unsigned block = 0; block < shape_.blocks && in_flight_; block++) {
        while (load_of(block) && has_result(block)) {
            Block &of = blocks_[block];
            const Label &label = labels_[block * shape_.depth + (of.collected + 1) % shape_.depth];
            if (!sink(label, [&](std::byte *to) { copy_result(block, to); }))
                return taken;
            if (of.present)
                unlink(block);
            of.collected++;
            if (of.present)
                link(block);
            in_flight_--;
            taken++;
        }
    }
    return taken;
}

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_RESIDENT_HPP */
