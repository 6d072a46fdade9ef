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

    /*
     * Free slots of blocks that are on the device. Until all are there, only of those that have no task: others come
     * soon, and one that is behind another would wait for that.
     */
    std::size_t room();
    /*
     * The block with the fewest tasks gets one: pieces from @task, whose label is kept. There must be room. It may not
     * be noticed before ring(), for all that were given. Here and below, memory of tasks has room for whole pieces.
     */
    void give(const std::byte *task, const Label &label);
    void ring();
    /* Tasks that were given and not collected. */
    std::size_t in_flight() const { return in_flight_; }
    /* All that were ever given. */
    std::uint64_t given() const { return given_; }
    /*
     * Looks for results, @most of them, all of one output: their blocks are then in @found, one for each result. They
     * stay until they are taken, in this order.
     */
    void find_results(std::size_t most, std::vector<unsigned> &found);
    const Label &label_of_result(unsigned block) const;
    /* Copies the block's next result, and its slot is free. */
    void take_result(unsigned block, std::byte *to);
    /* The tasks that blocks have begun, or are the next to begin, as text. */
    std::string describe_begun() const;

private:
    static constexpr unsigned none = ~0U;

    struct Block {
        unsigned given = 0, collected = 0;     /* numbers of tasks, the last ones */
        unsigned before = none, behind = none; /* of those with as many tasks: see loads_ */
        unsigned found = 0;                    /* results in find_results()'s list */
        bool present = false;
    };

    /* Where each is in the shared memory, in bytes; the tasks come first. */
    struct Layout {
        Layout(const Shape &shape, unsigned pieces);
        std::size_t results, notices, bell, present, first, end;
    };

    Piece *pieces(std::size_t base, unsigned block, unsigned number) const;
    bool has_result(unsigned block, unsigned number) const;
    const Label &label(unsigned block, unsigned number) const;
    void write_bell(const Bell &bell);
    void find_few(std::size_t most, std::vector<unsigned> &found);
    void find_many(std::size_t most, std::vector<unsigned> &found);
    void find_of(unsigned block, std::size_t most, std::vector<unsigned> &found);
    void admit();
    std::size_t idle() const;
    void link(unsigned block);
    void unlink(unsigned block);
    unsigned load_of(unsigned block) const { return blocks_[block].given - blocks_[block].collected; }
    void tell_to_leave();
    void ended();

    device::Device &device_;
    const std::unique_ptr<device::Code> code_;
    const Shape shape_;
    const unsigned pieces_;
    const Layout at_;
    const device::Allocation shared_; /* with the GPU: tasks, results, notices, the bell, presence, first numbers */
    const device::Allocation lodge_;
    const std::unique_ptr<device::Queue> queue_; /* goes first: it waits for its work, which uses these */
    std::byte *const memory_;

    std::vector<Block> blocks_;
    std::vector<Label> labels_;   /* [block][slot] */
    std::vector<unsigned> loads_; /* by how many tasks they have: the block that was last to come to that */
    unsigned absent_ = 0;         /* blocks of this run that have not begun */
    std::size_t in_flight_ = 0;
    std::uint64_t given_ = 0;
    unsigned run_ = 0;
    Bell bell_{};
    unsigned woken_ = 0, called_ = 0; /* tasks given since the last ring; and the last one's block */
    unsigned next_look_ = 0;          /* the block at which to begin */
    std::size_t free_ = 0;            /* slots of blocks that are present */
    bool leaving_ = false;
    device::MarkerPtr end_; /* of the run; null: none */
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_RESIDENT_HPP */
