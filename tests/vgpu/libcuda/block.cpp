// SPDX-License-Identifier: MIT
#include "tests/vgpu/libcuda/block.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <ctime>
#include <new>
#include <sched.h>
#include <utility>

namespace vgpu {

namespace {

thread_local Block *current_block;

/* What only looks at what others change gives the processor away this often, and sleeps from then on. */
constexpr std::uint32_t patient_rounds = 100;
constexpr long nap_ns = 50000;

constexpr vgpu_state fresh{0, 0, 1, 0};

/* False after the last. */
bool advance(vgpu_index &index, const vgpu_index &end)
{
    if (++index.x < end.x)
        return true;
    index.x = 0;
    if (++index.y < end.y)
        return true;
    index.y = 0;
    return ++index.z < end.z;
}

} // namespace

/* A thread that does not run, on the stack where it waits. */
struct Block::Waiter {
    Fiber *fiber = nullptr;
    vgpu_state state{};
    vgpu_index index{};
    Waiter *next = nullptr;
};

void Block::Queue::push(Waiter &waiter)
{
    (last ? last->next : first) = &waiter;
    last = &waiter;
    length++;
}

Block::Waiter &Block::Queue::pop()
{
    Waiter &waiter = *first;
    first = waiter.next;
    if (!first)
        last = nullptr;
    length--;
    return waiter;
}

void Block::Queue::append(Queue &other)
{
    if (!other.first)
        return;
    (last ? last->next : first) = other.first;
    last = other.last;
    length += other.length;
    other = {};
}

/* Of lanes of a warp. One that is through may be at the next before others have left this one. */
struct Block::Meeting {
    std::uint32_t warp, mask;
    std::uint32_t present = 0;
    int to_leave = 0; /* 0: some are still to come */
    std::uint64_t values[VGPU_WARP_THREADS] = {};
    Queue waiting = {};
};

Block::Block(Surroundings &surroundings, const vgpu_kernel &kernel, const vgpu_variables &variables,
             void *const *params)
    : surroundings_(surroundings), kernel_(kernel), now_(variables), params_(params),
      threads_(variables.block_dim->x * variables.block_dim->y * variables.block_dim->z)
{
    current_block = this;
}

Block::~Block()
{
    current_block = nullptr;
    for (auto &fiber : fibers_)
        Fiber::give_back(std::move(fiber));
}

Block *Block::current()
{
    return current_block;
}

std::uint32_t Block::rank() const
{
    const vgpu_index &index = *now_.thread_index, &size = *now_.block_dim;
    return (index.z * size.y + index.y) * size.x + index.x;
}

void Block::run()
{
    all_started_ = false;
    *now_.state = fresh;
    *now_.thread_index = {};
    kernel_.run(params_);
    thread_ended();
    if (alive_)
        run_another();
}

/* All of a fiber's life: the block may be another each time. */
void Block::run_fiber(Fiber &fiber)
{
    Block &block = *static_cast<Block *>(fiber.user);
    block.kernel_.run(block.params_);
    block.thread_ended();
    block.idle_.push_back(&fiber);
    block.run_another();
}

void Block::switch_to(Fiber &to)
{
    Fiber &from = *std::exchange(running_, &to);
    from.switch_to(to);
}

/* Another stack goes on with the thread after the one whose index is set; false if there is none. */
bool Block::start_next()
{
    if (!advance(*now_.thread_index, *now_.block_dim)) {
        all_started_ = true;
        return false;
    }
    try {
        if (idle_.empty()) {
            fibers_.push_back(Fiber::take(run_fiber));
            idle_.push_back(fibers_.back().get());
        }
    } catch (const std::bad_alloc &) {
        std::fprintf(stderr, "vgpu: %s: no memory for the stacks of a block's threads\n", kernel_.name);
        now_.sum->flags |= VGPU_TRAPPED;
        end_all();
        return false;
    }
    Fiber &fiber = *idle_.back();
    idle_.pop_back();
    fiber.user = this;
    *now_.state = fresh;
    idle_rounds_ = 0;
    switch_to(fiber);
    return true;
}

/* Leaves the calling stack to whoever switches to it again: a thread that waits, or something that has ended. */
void Block::run_another()
{
    for (;;) {
        if (ready_.first) {
            Fiber &fiber = *ready_.pop().fiber;
            if (&fiber != running_)
                switch_to(fiber);
            return;
        }
        if (!alive_) {
            switch_to(*caller_);
            return;
        }
        settle_alone();
    }
}

/* That which has run on this stack; it is the last that this one starts. */
void Block::thread_ended()
{
    idle_rounds_ = 0;
    if (now_.sum->flags & VGPU_TRAPPED)
        end_all();
    if (now_.state->has_waited) {
        waited_[rank()] = false;
        alive_--;
    } else {
        all_started_ = true;
    }
    settle();
}

/* Of the running thread. */
void Block::suspend(Queue &queue)
{
    if (!caller_) {
        caller_ = std::make_unique<Fiber>();
        running_ = caller_.get();
        waited_.resize(threads_);
    }
    if (!std::exchange(now_.state->has_waited, 1)) {
        waited_[rank()] = true;
        alive_++;
    }
    const bool starts_next = std::exchange(now_.state->starts_next, 0);
    Waiter waiter{running_, *now_.state, *now_.thread_index};
    queue.push(waiter);
    if (!starts_next || !start_next()) {
        settle();
        run_another();
    }
    *now_.state = waiter.state;
    *now_.thread_index = waiter.index;
}

void Block::release(Queue &waiting)
{
    idle_rounds_ = 0;
    ready_.append(waiting);
}

/* All threads are to end: they are told where they wait, or the next time they want to. */
void Block::end_all()
{
    ending_ = true;
    all_started_ = true;
    release(at_barrier_);
    release(at_grid_barrier_);
    for (Meeting &meeting : meetings_)
        release(meeting.waiting);
}

/* Lets those go on who need not wait any longer. */
void Block::settle()
{
    if (!all_started_ || ending_)
        return;
    if (alive_ && at_barrier_.length == alive_) {
        count_ = std::exchange(predicates_, 0);
        release(at_barrier_);
    }
    for (Meeting &meeting : meetings_)
        settle(meeting);
}

/* Whether all have come who will. */
bool Block::settle(Meeting &meeting)
{
    if (meeting.to_leave)
        return true;
    for (std::uint32_t missing = meeting.mask & ~meeting.present; missing; missing &= missing - 1) {
        const std::uint32_t rank =
            meeting.warp * VGPU_WARP_THREADS + static_cast<std::uint32_t>(std::countr_zero(missing));
        const bool ended = rank >= threads_ || (all_started_ && !waited_[rank]);
        if (!ended)
            return false;
    }
    meeting.to_leave = std::popcount(meeting.present);
    release(meeting.waiting);
    return true;
}

/* None of the block can go on by itself. */
void Block::settle_alone()
{
    if (at_grid_barrier_.length == alive_) {
        if (surroundings_.meet_blocks())
            release(at_grid_barrier_);
        else
            end_all();
        return;
    }
    std::fprintf(
        stderr,
        "vgpu: %s: of the %u threads left in block (%u, %u, %u) %u wait at a barrier of the block, %u at one of "
        "the grid, and the others for lanes of their warps: none can go on\n",
        kernel_.name, alive_, now_.block_index->x, now_.block_index->y, now_.block_index->z, at_barrier_.length,
        at_grid_barrier_.length);
    now_.sum->flags |= VGPU_TRAPPED;
    end_all();
}

int Block::barrier(bool predicate, std::uint32_t *count)
{
    if (ending_)
        return -1;
    *count = predicate;
    if (threads_ == 1)
        return 0;
    predicates_ += predicate;
    suspend(at_barrier_);
    *count = count_;
    return ending_ ? -1 : 0;
}

int Block::grid_barrier()
{
    if (ending_)
        return -1;
    suspend(at_grid_barrier_);
    return ending_ ? -1 : 0;
}

int Block::meet_lanes(std::uint32_t mask, std::uint64_t value, std::uint64_t *values, std::uint32_t *present)
{
    const std::uint32_t warp = rank() / VGPU_WARP_THREADS, lane = rank() % VGPU_WARP_THREADS, bit = 1u << lane;
    if (ending_)
        return -1;
    mask |= bit;
    auto meeting = std::find_if(meetings_.begin(), meetings_.end(), [&](const Meeting &other) {
        return other.warp == warp && other.mask == mask && !other.to_leave && !(other.present & bit);
    });
    if (meeting == meetings_.end())
        meeting = meetings_.insert(meeting, Meeting{warp, mask});
    meeting->present |= bit;
    meeting->values[lane] = value;
    if (!settle(*meeting))
        suspend(meeting->waiting);
    if (ending_)
        return -1;
    std::copy_n(meeting->values, VGPU_WARP_THREADS, values);
    *present = meeting->present;
    if (--meeting->to_leave == 0)
        meetings_.erase(meeting);
    return 0;
}

void Block::nap()
{
    const std::uint32_t rounds = idle_rounds_ / (alive_ + 1);

    surroundings_.let_others_run();
    if (rounds < patient_rounds) {
        sched_yield();
        return;
    }
    const timespec time{0, nap_ns};
    nanosleep(&time, nullptr);
}

int Block::yield()
{
    if (!ending_ && surroundings_.ending())
        end_all();
    if (ending_)
        return -1;
    /* Each has looked in vain since one last went on. */
    if (++idle_rounds_ % (alive_ + 1) == 0)
        nap();
    if (threads_ > 1)
        suspend(ready_);
    return ending_ ? -1 : 0;
}

} // namespace vgpu
