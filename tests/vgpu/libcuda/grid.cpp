// SPDX-License-Identifier: MIT
#include "tests/vgpu/libcuda/grid.h"

#include "libptsched/base/lock.hpp"
#include "tests/vgpu/libcuda/block.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <list>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

namespace vgpu {

namespace {

/* A block that has had the processor this long is not waited for. */
constexpr std::uint64_t long_block_ns = 2000000;
constexpr std::chrono::milliseconds watch_interval(2);
/* The watch sleeps after so many intervals without a grid. */
constexpr unsigned idle_intervals = 50;

class Runner;

class Grid {
public:
    explicit Grid(const GridCall &call);

    /* Without the lock while no other thread has the grid yet, or any more. */
    vgpu_sum run() PTSCHED_NO_THREAD_SAFETY_ANALYSIS;
    /* Whether there was another. */
    bool take_block(std::uint64_t &block);
    void block_ended(const vgpu_sum &sum);
    /* The calling block waits for all others; false if the grid is to end. */
    bool meet_blocks();
    /* Another thread of the host goes on with the next block, if there is one and the device has room for it. */
    void relieve(Runner &runner);
    /* The watch's: looks for blocks that run on. */
    void look();
    bool ending() const { return ending_; }
    bool has_several() const { return blocks_ > 1; }

    const GridCall call;

private:
    void relieve_locked(Runner &runner) PTSCHED_REQUIRES(lock_);
    void end_barrier() PTSCHED_REQUIRES(lock_);

    const std::uint64_t blocks_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<bool> ending_{false};

    ptsched::Mutex lock_;
    std::condition_variable changed_;
    Runner *own_ PTSCHED_GUARDED_BY(lock_) = nullptr; /* the caller's */
    std::list<Runner> others_ PTSCHED_GUARDED_BY(lock_);
    std::uint64_t ended_ PTSCHED_GUARDED_BY(lock_) = 0;      /* blocks */
    std::uint64_t at_barrier_ PTSCHED_GUARDED_BY(lock_) = 0; /* blocks that wait */
    std::uint64_t barriers_ PTSCHED_GUARDED_BY(lock_) = 0;   /* how often all have come */
    vgpu_sum sum_ PTSCHED_GUARDED_BY(lock_) = {};
};

/* A thread of the host that runs one block after another. */
class Runner final : public Surroundings {
public:
    explicit Runner(Grid &grid) : grid_(grid) {}

    void run();
    /* Whether the block has run on for long; the watch's. */
    bool is_long();

    bool meet_blocks() override
    {
        let_others_run();
        return grid_.meet_blocks();
    }
    void let_others_run() override
    {
        if (!relieved)
            grid_.relieve(*this);
    }
    bool ending() const override { return grid_.ending(); }
    bool is_cooperative() const override { return grid_.call.cooperative; }

    std::thread thread; /* but for the launch's own */
    /* One more is enough for each block: if that waits as well, it sees to the next. */
    std::atomic<bool> relieved{false};

private:
    Grid &grid_;
    std::atomic<std::uint64_t> started_{0}; /* blocks */
    std::atomic<bool> running_{false};      /* its clock can be read */
    clockid_t clock_{};
    std::uint64_t seen_ = 0, seen_ns_ = 0; /* by the watch: the block, and the clock when it was first seen */
};

std::uint64_t read_clock(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/* Looks at the grids that run, from time to time. */
class Watch {
public:
    void add(Grid &grid)
    {
        const ptsched::Guard lock(lock_);
        grids_.push_back(&grid);
        if (!started_)
            std::thread([this] { run(); }).detach();
        started_ = true;
        if (asleep_)
            wake_.notify_one();
    }

    void remove(Grid &grid)
    {
        const ptsched::Guard lock(lock_);
        std::erase(grids_, &grid);
    }

private:
    void run()
    {
        ptsched::Lock lock(lock_);
        for (unsigned idle = 0;; idle++) {
            if (idle == idle_intervals) {
                asleep_ = true;
                wake_.wait(lock, [&]() PTSCHED_REQUIRES(lock_) { return !grids_.empty(); });
                asleep_ = false;
            }
            if (!grids_.empty())
                idle = 0;
            for (Grid *grid : grids_)
                grid->look();
            lock.unlock();
            std::this_thread::sleep_for(watch_interval);
            lock.lock();
        }
    }

    ptsched::Mutex lock_;
    std::condition_variable wake_;
    std::vector<Grid *> grids_ PTSCHED_GUARDED_BY(lock_);
    bool started_ PTSCHED_GUARDED_BY(lock_) = false, asleep_ PTSCHED_GUARDED_BY(lock_) = false;
};

/* Never destroyed: workers may outlive main(). */
Watch &watch()
{
    static Watch &made = *new Watch;
    return made;
}

Grid::Grid(const GridCall &call)
    : call(call), blocks_(std::uint64_t{call.launch.grid[0]} * call.launch.grid[1] * call.launch.grid[2])
{
}

vgpu_sum Grid::run()
{
    Runner own(*this);
    own_ = &own;
    if (has_several())
        watch().add(*this);
    own.run();
    if (has_several())
        watch().remove(*this);
    /* No block is left to be started: whoever still wants to have another started finds that out under the lock. */
    std::size_t others;
    {
        const ptsched::Guard lock(lock_);
        others = others_.size();
    }
    for (auto other = others_.begin(); others; ++other, others--)
        other->thread.join();
    return sum_;
}

bool Grid::take_block(std::uint64_t &block)
{
    block = next_.fetch_add(1, std::memory_order_relaxed);
    return block < blocks_ && !ending_;
}

void Grid::relieve(Runner &runner)
{
    const ptsched::Guard lock(lock_);
    relieve_locked(runner);
}

void Grid::relieve_locked(Runner &runner)
{
    if (runner.relieved || ending_ || next_ >= blocks_ || 1 + others_.size() >= call.resident_blocks)
        return;
    runner.relieved = true;
    Runner &another = others_.emplace_back(*this);
    try {
        another.thread = std::thread([&another] { another.run(); });
    } catch (const std::system_error &) {
        std::fprintf(stderr, "vgpu: %s: no thread of the host for one more of %llu blocks\n", call.kernel.name,
                     static_cast<unsigned long long>(blocks_));
        sum_.flags |= VGPU_TRAPPED;
        ending_ = true;
        changed_.notify_all();
    }
}

/* Where there are many threads already, a block that is long is not taken for one that waits for the next ones. */
void Grid::look()
{
    if (!Fiber::may_take_more())
        return;
    const ptsched::Guard lock(lock_);
    if (own_->is_long())
        relieve_locked(*own_);
    auto other = others_.begin();
    for (std::size_t left = others_.size(); left; ++other, left--)
        if (other->is_long())
            relieve_locked(*other);
}

void Grid::end_barrier()
{
    at_barrier_ = 0;
    barriers_++;
    changed_.notify_all();
}

/* One block, or all of a thread's where none waits for others. */
void Grid::block_ended(const vgpu_sum &sum)
{
    const ptsched::Guard lock(lock_);
    ended_++;
    sum_.longest_ns = std::max(sum_.longest_ns, sum.longest_ns);
    sum_.flags |= sum.flags;
    if (sum.flags & VGPU_TRAPPED) {
        ending_ = true;
        changed_.notify_all();
    }
    if (call.cooperative && at_barrier_ && at_barrier_ + ended_ == blocks_)
        end_barrier();
}

bool Grid::meet_blocks()
{
    ptsched::Lock lock(lock_);
    const std::uint64_t barriers = barriers_;
    if (++at_barrier_ + ended_ == blocks_)
        end_barrier();
    changed_.wait(lock, [&]() PTSCHED_REQUIRES(lock_) { return barriers_ != barriers || ending_; });
    return !ending_;
}

bool Runner::is_long()
{
    if (!running_ || relieved)
        return false;
    const std::uint64_t block = started_, now = read_clock(clock_);
    if (block != seen_) {
        seen_ = block;
        seen_ns_ = now;
    }
    return now - seen_ns_ >= long_block_ns;
}

/* Mostly it is the next one, for which nothing needs to be divided. */
void set_index(vgpu_index &index, const vgpu_index &end, std::uint64_t rank, bool is_next)
{
    if (is_next && rank && ++index.x < end.x)
        return;
    index = {static_cast<std::uint32_t>(rank % end.x), static_cast<std::uint32_t>(rank / end.x % end.y),
             static_cast<std::uint32_t>(rank / end.x / end.y)};
}

void Runner::run()
{
    const auto &grid = grid_.call.launch.grid, &block = grid_.call.launch.block;
    vgpu_variables variables;
    std::uint64_t rank, last = UINT64_MAX;

    grid_.call.module.find_variables(&variables);
    *variables.grid_dim = {grid[0], grid[1], grid[2]};
    *variables.block_dim = {block[0], block[1], block[2]};
    *variables.sum = {};
    if (grid_.has_several())
        running_ = pthread_getcpuclockid(pthread_self(), &clock_) == 0;
    Block threads(*this, grid_.call.kernel, variables, grid_.call.params);
    while (grid_.take_block(rank)) {
        started_.store(started_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        relieved.store(false, std::memory_order_relaxed);
        set_index(*variables.block_index, *variables.grid_dim, rank, rank == last + 1);
        last = rank;
        threads.run();
        if (grid_.call.cooperative || variables.sum->flags & VGPU_TRAPPED)
            grid_.block_ended(*variables.sum);
    }
    running_.store(false, std::memory_order_relaxed);
    if (!grid_.call.cooperative)
        grid_.block_ended(*variables.sum);
}

} // namespace

vgpu_sum run_grid(const GridCall &call)
{
    return Grid(call).run();
}

const vgpu_calls kernel_calls = {
    [](int predicate, std::uint32_t *count) { return Block::current()->barrier(predicate, count); },
    [](std::uint32_t mask, std::uint64_t value, std::uint64_t *values, std::uint32_t *present) {
        return Block::current()->meet_lanes(mask, value, values, present);
    },
    [] { return Block::current()->grid_barrier(); },
    [] { return Block::current()->yield(); },
    []() -> int { return Block::current()->is_cooperative(); },
};

} // namespace vgpu
