// SPDX-License-Identifier: MIT
#include "libptsched/base/lock.hpp"
#include "libptsched/device/host_pool.hpp"
#include "libptsched/device/nodes.hpp"
#include <ptsched/device/parallel.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ptsched::device {

namespace {

/* So many for each processor, unless somebody says how large: who is late is so by little. */
constexpr std::size_t dynamic_chunks = 8;

std::size_t parts_of(std::size_t count, std::size_t grain)
{
    return count / grain + (count % grain != 0);
}

/*
 * A loop's parts, which whoever comes takes one after the other. The caller does all that nobody has begun and waits
 * for nobody else: so it does not matter where the others are.
 */
class Loop {
public:
    Loop(std::size_t count, const RangeFunction &body, const ParallelFor &how);

    std::size_t parts() const { return parts_; }
    /* Until there is nothing to begin any more. */
    void take_part();
    /* Until all that has begun has ended; throws what was thrown. */
    void finish();

private:
    void run(std::size_t part);
    std::size_t begin_of(std::size_t part) const;

    const std::size_t count_;
    const RangeFunction &body_; /* not after finish() */
    const bool equal_;
    std::size_t grain_;
    std::size_t parts_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> failed_{false};
    Mutex mutex_;
    std::condition_variable changed_;
    std::size_t ended_ PTSCHED_GUARDED_BY(mutex_) = 0;
    std::exception_ptr failure_ PTSCHED_GUARDED_BY(mutex_);
};

Loop::Loop(std::size_t count, const RangeFunction &body, const ParallelFor &how)
    : count_(count), body_(body), equal_(how.chunks == Chunks::equal), grain_(how.grain)
{
    const std::size_t processors = host_processors();
    if (!grain_)
        grain_ = equal_ ? 1 : std::max<std::size_t>(count / (processors * dynamic_chunks), 1);
    parts_ = equal_ ? std::clamp<std::size_t>(count / grain_, 1, processors) : parts_of(count, grain_);
}

std::size_t Loop::begin_of(std::size_t part) const
{
    if (!equal_)
        return std::min(part * grain_, count_);
    const std::size_t each = count_ / parts_, longer = count_ % parts_;
    return part * each + std::min(part, longer);
}

void Loop::run(std::size_t part)
{
    std::exception_ptr failure;
    if (!failed_.load(std::memory_order_relaxed))
        try {
            body_(begin_of(part), begin_of(part + 1));
        } catch (...) {
            failure = std::current_exception();
            failed_.store(true, std::memory_order_relaxed);
        }
    Guard lock(mutex_);
    if (failure && !failure_)
        failure_ = std::move(failure);
    if (++ended_ == parts_)
        changed_.notify_all();
}

void Loop::take_part()
{
    for (std::size_t part; (part = next_.fetch_add(1)) < parts_;) {
        if (!equal_) {
            run(part);
            continue;
        }
        const Nodes &nodes = Nodes::get();
        const OnNode there(nodes, nodes.of_part(part, parts_));
        run(part);
    }
}

void Loop::finish()
{
    Lock lock(mutex_);
    if (ended_ < parts_) {
        lock.unlock();
        HostPool::Blocked blocked;
        lock.lock();
        changed_.wait(lock, [this]() PTSCHED_REQUIRES(mutex_) { return ended_ == parts_; });
    }
    /* Whoever comes late has the loop, and is not to be who ends what the caller was thrown. */
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

/* One thread's part in it, which may come when all is over. */
class Share final : public HostWork {
public:
    explicit Share(std::shared_ptr<Loop> loop) : loop_(std::move(loop)) {}
    void do_piece() override
    {
        const std::unique_ptr<Share> own(this);
        loop_->take_part();
    }

private:
    const std::shared_ptr<Loop> loop_;
};

/* Without threads, the caller does it. */
void ask_others(const std::shared_ptr<Loop> &loop)
{
    HostPoolImpl &pool = HostPoolImpl::get();
    const auto group = HostGroup::make(0);
    const std::size_t others = std::min<std::size_t>(loop->parts(), host_processors()) - 1;
    for (std::size_t i = 0; i < others; i++) {
        auto share = std::make_unique<Share>(loop);
        try {
            pool.ready(group, *share);
        } catch (const Error &) {
            /* The group has it all the same. */
            share.release();
            return;
        }
        share.release();
    }
}

} // namespace

void parallel_for(std::size_t count, const RangeFunction &body, const ParallelFor &how)
{
    if (!body)
        throw Error("a loop's body is an empty function");
    if (!count)
        return;
    const auto loop = std::make_shared<Loop>(count, body, how);
    if (loop->parts() > 1)
        ask_others(loop);
    loop->take_part();
    loop->finish();
}

void first_touch(void *memory, std::size_t bytes)
{
    parallel_for(bytes, [memory](std::size_t begin, std::size_t end) {
        std::memset(static_cast<char *>(memory) + begin, 0, end - begin);
    });
}

unsigned host_processors()
{
    return Nodes::get().processors();
}

unsigned host_nodes()
{
    return Nodes::get().count();
}

} // namespace ptsched::device
