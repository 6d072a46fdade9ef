// SPDX-License-Identifier: MIT
/* The host as a device: its memory, and queues whose work threads of all of them do. */
#include "libptsched/base/lock.hpp"
#include "libptsched/device/driver.hpp"
#include "libptsched/device/host_pool.hpp"
#include "libptsched/device/pool.hpp"
#include <ptsched/base/chrono_clock.hpp>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <thread>
#include <unordered_set>
#include <utility>

namespace ptsched::device {

namespace {

/* What a queue has done so far, for markers that may outlive it. */
struct Progress {
    Mutex mutex;
    std::condition_variable changed;
    std::uint64_t done PTSCHED_GUARDED_BY(mutex) = 0;
    std::uint64_t
        failed_at PTSCHED_GUARDED_BY(mutex) = UINT64_MAX; /* the item whose number this is, and all after it */
    std::exception_ptr failure PTSCHED_GUARDED_BY(mutex);
};

[[noreturn]] void rethrow(const std::exception_ptr &failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception &error) {
        std::throw_with_nested(HostFailure(*error.what() ? error.what() : "exception"));
    } catch (...) {
        std::throw_with_nested(HostFailure("exception"));
    }
}

class HostMarker final : public Marker {
public:
    HostMarker(std::shared_ptr<Progress> progress, std::uint64_t item) : progress_(std::move(progress)), item_(item) {}

    bool reached() override
    {
        if (seen())
            return true;
        Guard lock(progress_->mutex);
        return look();
    }

    void wait() override
    {
        if (reached())
            return;
        HostPool::Blocked blocked;
        HostPoolImpl::get().look();
        Lock lock(progress_->mutex);
        progress_->changed.wait(lock, [this]() PTSCHED_REQUIRES(progress_->mutex) { return progress_->done >= item_; });
        look();
    }

private:
    bool look() PTSCHED_REQUIRES(progress_->mutex)
    {
        bool done = progress_->done >= item_;
        if (done && progress_->failed_at <= item_)
            rethrow(progress_->failure);
        if (done)
            see();
        return done;
    }

    const std::shared_ptr<Progress> progress_;
    const std::uint64_t item_;
};

struct FunctionCode final : Code {
    explicit FunctionCode(HostFunction function) : function(std::move(function)) {}
    HostFunction function;
};

class HostQueue final : public Queue, private HostWork {
public:
    explicit HostQueue(HostGroupPtr group) : group_(std::move(group)) {}

    ~HostQueue() override
    {
        HostPool::Blocked blocked;
        HostPoolImpl::get().look();
        Lock lock(mutex_);
        ending_ = true;
        over_.wait(lock, [this]() PTSCHED_REQUIRES(mutex_) { return is_over(); });
    }
    HostQueue(const HostQueue &) = delete;
    HostQueue &operator=(const HostQueue &) = delete;

    void upload(Address to, const void *from, std::size_t bytes) override
    {
        add([=] { std::memcpy(host_pointer(to), from, bytes); });
    }

    void download(void *to, Address from, std::size_t bytes) override
    {
        add([=] { std::memcpy(to, host_pointer(from), bytes); });
    }

    void copy(Address to, Device &source, Address from, std::size_t bytes) override
    {
        if (&source != &host())
            Queue::copy(to, source, from, bytes);
        add([=] { std::memcpy(host_pointer(to), host_pointer(from), bytes); });
    }

    void run(const Code &code, const Geometry &, const std::vector<void *> &arguments) override
    {
        std::vector<void *> values;
        values.reserve(arguments.size());
        for (void *argument : arguments)
            values.push_back(*static_cast<void **>(argument));
        add([&function = static_cast<const FunctionCode &>(code).function,
             values = std::move(values)] { function(values); },
            true);
    }

    void after(const MarkerPtr &marker) override
    {
        add([marker] {
            if (marker->reached())
                return;
            HostPool::Blocked blocked;
            marker->wait();
        });
    }

    void tell(std::function<void()> ended) override { ended_ = std::move(ended); }

    MarkerPtr mark() override
    {
        Guard lock(mutex_);
        return std::make_shared<HostMarker>(progress_, added_);
    }

    void finish() override
    {
        Lock lock(mutex_);
        HostMarker marker(progress_, added_);
        lock.unlock();
        marker.wait();
    }

    std::optional<double> worked() const override { return std::chrono::duration<double>(worked_.load()).count(); }

    bool help() override
    {
        HostPoolImpl::Guest guest(group_);
        Lock lock(mutex_);
        if (busy_ || items_.empty() || !guest.may_work())
            return false;
        do_next(lock, false);
        return true;
    }

private:
    struct Work {
        std::function<void()> function;
        bool told; /* somebody is to know when it has ended */
    };

    bool is_over() const PTSCHED_REQUIRES(mutex_) { return items_.empty() && !busy_ && !ready_ && !leaving_; }
    /* Whether the pool is to be told that there is something to do. */
    bool becomes_ready() PTSCHED_REQUIRES(mutex_) { return !items_.empty() && !busy_ && !std::exchange(ready_, true); }

    void add(std::function<void()> function, bool told = false)
    {
        bool tells;
        {
            Guard lock(mutex_);
            items_.push_back({std::move(function), told});
            added_++;
            tells = becomes_ready();
        }
        if (tells)
            HostPoolImpl::get().ready(group_, *this);
    }

    void do_piece() override
    {
        Lock lock(mutex_);
        ready_ = false;
        bool more = !busy_ && !items_.empty();
        /* Copies, and waits for them, go with what comes after them. */
        while (more && !items_.front().told)
            more = do_next(lock, true) && !busy_ && !items_.empty();
        if (more)
            do_next(lock, true);
        if (ending_)
            over_.notify_all();
    }

    /*
     * False if the pool has been told about the rest. Who is to know of the end is told when others can go on with the
     * next item: that may wait for them.
     */
    bool do_next(Lock &lock, bool by_pool) PTSCHED_REQUIRES(mutex_)
    {
        Work item = std::move(items_.front());
        items_.pop_front();
        busy_ = true;
        lock.unlock(mutex_);
        const auto began = Clock::now();
        std::exception_ptr failure = attempt(item.function);
        item.function = {};
        if (item.told)
            worked_.store(worked_.load() + (Clock::now() - began));
        note_end(std::move(failure));
        lock.lock(mutex_);
        busy_ = false;
        if (by_pool && !item.told)
            return true;
        const bool is_ready = becomes_ready();
        leaving_++;
        lock.unlock(mutex_);
        if (by_pool)
            HostPoolImpl::looks_soon();
        if (is_ready)
            HostPoolImpl::get().ready(group_, *this);
        if (item.told && ended_)
            ended_();
        lock.lock(mutex_);
        leaving_--;
        if (ending_)
            over_.notify_all();
        return false;
    }

    /* What went wrong; after the first failure, nothing is done any more. */
    std::exception_ptr attempt(const std::function<void()> &item) const
    {
        if (failed_)
            return nullptr;
        try {
            item();
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    void note_end(std::exception_ptr failure)
    {
        {
            Guard lock(progress_->mutex);
            progress_->done++;
            if (failure) {
                failed_ = true;
                progress_->failed_at = progress_->done;
                progress_->failure = std::move(failure);
            }
        }
        progress_->changed.notify_all();
    }

    std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
    const HostGroupPtr group_;
    bool failed_ = false;                   /* whose who is busy */
    std::atomic<Clock::duration> worked_{}; /* who is busy adds to it */
    std::function<void()> ended_;           /* set before there is work */
    Mutex mutex_;                           /* before progress_->mutex */
    std::condition_variable over_;
    std::deque<Work> items_ PTSCHED_GUARDED_BY(mutex_);
    std::uint64_t added_ PTSCHED_GUARDED_BY(mutex_) = 0;
    bool busy_ PTSCHED_GUARDED_BY(mutex_) = false;    /* somebody is at an item */
    bool ready_ PTSCHED_GUARDED_BY(mutex_) = false;   /* the pool knows that there is something to do */
    unsigned leaving_ PTSCHED_GUARDED_BY(mutex_) = 0; /* those who have ended an item, and still use the queue */
    bool ending_ PTSCHED_GUARDED_BY(mutex_) = false;
};

/*
 * Pinned, so that copies need no detour. Not once the driver refuses that, as it does when a kernel was at fault:
 * graphs of the host and of other devices go on.
 */
class HostMemory {
public:
    Address allocate(std::size_t bytes);
    void release(Address address);

private:
    void *allocate_plain(std::size_t bytes);

    Mutex mutex_;
    std::unordered_set<void *> plain_ PTSCHED_GUARDED_BY(mutex_);
};

void *HostMemory::allocate_plain(std::size_t bytes)
{
    std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(allocation_alignment, bytes), &std::free);
    Guard lock(mutex_);
    if (memory)
        plain_.insert(memory.get());
    return memory.release();
}

Address HostMemory::allocate(std::size_t bytes)
{
    void *memory = nullptr;
    try {
        memory = gpus().empty() ? allocate_plain(bytes) : allocate_pinned(bytes);
    } catch (const Fault &) {
        memory = allocate_plain(bytes);
    }
    return reinterpret_cast<std::uintptr_t>(memory);
}

void HostMemory::release(Address address)
{
    void *memory = host_pointer(address);
    Lock lock(mutex_);
    bool plain = plain_.erase(memory);
    lock.unlock();
    if (plain)
        std::free(memory);
    else
        release_pinned(memory);
}

class Host final : public Device {
public:
    const std::string &name() const override { return name_; }
    Address allocate(std::size_t bytes) override
    {
        Address address = pool_.take(bytes);
        if (!address)
            throw OutOfMemory("the host has no memory for " + std::to_string(bytes) + " bytes");
        return address;
    }
    void release(Address address, std::size_t bytes) noexcept override { pool_.give(address, bytes); }
    std::size_t trim(std::size_t keep) override { return pool_.trim_to(keep); }
    std::unique_ptr<Queue> make_queue() override { return make_host_queue(HostGroup::make(0)); }
    Queue &outgoing() override { throw Error("the host's memory is where copies go"); }
    bool orders_others() const override { return false; }

private:
    std::string name_ = "host";
    HostMemory memory_;
    Pool pool_{[this](std::size_t bytes) { return memory_.allocate(bytes); },
               [this](Address address) { memory_.release(address); }};
};

} // namespace

Device &host()
{
    /* For good, as the devices that copy to and from it. */
    static Host &host = *new Host;
    return host;
}

std::unique_ptr<Queue> make_host_queue(const HostGroupPtr &group)
{
    return std::make_unique<HostQueue>(group);
}

std::unique_ptr<Code> host_code(HostFunction function)
{
    return std::make_unique<FunctionCode>(std::move(function));
}

} // namespace ptsched::device
