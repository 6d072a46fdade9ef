/* SPDX-License-Identifier: MIT */
/*
 * The threads of one block, on one thread of the host. They run one after another, on the caller's stack, as long as
 * none waits. One that does keeps the stack on which it is, and another stack goes on with the next: a kernel without
 * barriers needs no stack, no switch and no look at any of this.
 */
#ifndef VGPU_LIBCUDA_BLOCK_H
#define VGPU_LIBCUDA_BLOCK_H

#include "tests/vgpu/include/vgpu_module.h"
#include "tests/vgpu/libcuda/fiber.h"

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

namespace vgpu {

/* The rest of the grid, as a block sees it. */
class Surroundings {
public:
    virtual ~Surroundings() = default;

    /* The block has got as far as it can alone: returns when all blocks have; false if the grid is to end. */
    virtual bool meet_blocks() = 0;
    /* The block does nothing but look at what others change. */
    virtual void let_others_run() = 0;
    virtual bool ending() const = 0;
    virtual bool is_cooperative() const = 0;
};

class Block {
public:
    Block(Surroundings &surroundings, const vgpu_kernel &kernel, const vgpu_variables &variables, void *const *params);
    ~Block();
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;

    /*
     * Runs all threads of the block whose index is set, or has them end when one traps; adds to the thread's sum.
     * Unless there was a trap, this can run another block then.
     */
    void run();

    /* What a kernel calls (vgpu_calls), on the stack of one of its threads. -1: it is to end. */
    int barrier(bool predicate, uint32_t *count);
    int meet_lanes(uint32_t mask, uint64_t value, uint64_t *values, uint32_t *present);
    int grid_barrier();
    int yield();
    bool is_cooperative() const { return surroundings_.is_cooperative(); }

    /* Of the calling thread: the one that is running. */
    static Block *current();

private:
    struct Waiter;
    struct Meeting;

    /* First come, first served; those who wait are on their own stacks. */
    struct Queue {
        Waiter *first = nullptr, *last = nullptr;
        uint32_t length = 0;

        void push(Waiter &waiter);
        Waiter &pop();
        void append(Queue &other);
    };

    uint32_t rank() const;
    bool start_next();
    void switch_to(Fiber &to);
    void run_another();
    void thread_ended();
    void suspend(Queue &queue);
    void release(Queue &waiting);
    void settle();
    bool settle(Meeting &meeting);
    void settle_alone();
    void end_all();
    void nap();
    static void run_fiber(Fiber &fiber);

    Surroundings &surroundings_;
    const vgpu_kernel &kernel_;
    const vgpu_variables &now_;
    void *const *params_;
    const uint32_t threads_;

    std::unique_ptr<Fiber> caller_; /* as soon as a second stack is needed */
    Fiber *running_ = nullptr;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber *> idle_;

    std::vector<bool> waited_; /* threads that have waited and not ended, by rank */
    uint32_t alive_ = 0;       /* how many that are */
    bool all_started_ = false;
    bool ending_ = false;
    uint32_t idle_rounds_ = 0;

    Queue ready_, at_barrier_, at_grid_barrier_;
    uint32_t predicates_ = 0, count_ = 0;
    std::list<Meeting> meetings_;
};

} // namespace vgpu

#endif /* VGPU_LIBCUDA_BLOCK_H */
