// SPDX-License-Identifier: MIT
// The host as a device: its memory, and a thread for each queue.
#include "driver.hpp"
#include "pool.hpp"
#include "time_source.hpp"

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <thread>
#include <unordered_set>

namespace ptsched::device {

namespace {

/* What a queue has done so far, for markers that may outlive it. */
struct Progress {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t done = 0;
    std::uint64_t failed_at = UINT64_MAX; /* the item whose number this is, and all after it */
    std::string failure;
};

class HostMarker final : public Marker {
public:
    HostMarker(std::shared_ptr<Progress> progress, std::uint64_t item) : progress_(std::move(progress)), item_(item) {}

    bool reached() override
    {
        if (seen())
            return true;
        std::lock_guard lock(progress_->mutex);
        return look();
    }

    void wait() override
    {
        std::unique_lock lock(progress_->mutex);
        progress_->changed.wait(lock, [this] { return progress_->done >= item_; });
        look();
    }

private:
    bool look()
    {
        bool done = progress_->done >= item_;
        if (done && progress_->failed_at <= item_)
            throw Error(progress_->failure);
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

class HostQueue final : public Queue {
public:
    HostQueue() : thread_(&HostQueue::work, this) {}

    ~HostQueue() override
    {
        {
            std::lock_guard lock(mutex_);
            ending_ = true;
        }
        arrived_.notify_one();
        thread_.join();
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
        add([marker] { marker->wait(); });
    }

    void tell(std::function<void()> ended) override { ended_ = std::move(ended); }

    MarkerPtr mark() override
    {
        std::lock_guard lock(mutex_);
        return std::make_shared<HostMarker>(progress_, added_);
    }

    void finish() override
    {
        std::unique_lock lock(mutex_);
        HostMarker marker(progress_, added_);
        lock.unlock();
        marker.wait();
    }

    std::optional<double> worked() const override { return std::chrono::duration<double>(worked_.load()).count(); }

    bool help() override
    {
        std::unique_lock lock(mutex_);
        if (busy_ || items_.empty())
            return false;
        do_next(lock);
        arrived_.notify_one();
        return true;
    }

private:
    struct Work {
        std::function<void()> function;
        bool told; /* somebody is to know when it has ended */
    };

    void add(std::function<void()> function, bool told = false)
    {
        {
            std::lock_guard lock(mutex_);
            items_.push_back({std::move(function), told});
            added_++;
        }
        arrived_.notify_one();
    }

    void work()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            arrived_.wait(lock, [this] { return !busy_ && (ending_ || !items_.empty()); });
            if (items_.empty())
                return;
            do_next(lock);
        }
    }

    void do_next(std::unique_lock<std::mutex> &lock)
    {
        Work item = std::move(items_.front());
        items_.pop_front();
        busy_ = true;
        lock.unlock();
        const auto began = Clock::now();
        const std::string failure = attempt(item.function);
        if (item.told)
            worked_.store(worked_.load() + (Clock::now() - began));
        note_end(failure);
        if (item.told && ended_)
            ended_();
        lock.lock();
        busy_ = false;
    }

    /* What went wrong; after the first failure, nothing is done any more. */
    std::string attempt(const std::function<void()> &item) const
    {
        if (failed_)
            return {};
        try {
            item();
            return {};
        } catch (const std::exception &error) {
            return *error.what() ? error.what() : "exception";
        } catch (...) {
            return "exception";
        }
    }

    void note_end(const std::string &failure)
    {
        {
            std::lock_guard lock(progress_->mutex);
            progress_->done++;
            if (!failure.empty()) {
                failed_ = true;
                progress_->failed_at = progress_->done;
                progress_->failure = failure;
            }
        }
        progress_->changed.notify_all();
    }

    std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
    bool failed_ = false;                   /* whose who is busy */
    std::atomic<Clock::duration> worked_{}; /* who is busy adds to it */
    std::function<void()> ended_;           /* set before there is work */
    std::mutex mutex_;                      /* protects what follows; before progress_->mutex */
    std::condition_variable arrived_;
    std::deque<Work> items_;
    std::uint64_t added_ = 0;
    bool busy_ = false; /* somebody is at an item */
    bool ending_ = false;
    std::thread thread_;
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

    std::mutex mutex_; /* protects what follows */
    std::unordered_set<void *> plain_;
};

void *HostMemory::allocate_plain(std::size_t bytes)
{
    std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(allocation_alignment, bytes), &std::free);
    std::lock_guard lock(mutex_);
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
    std::unique_lock lock(mutex_);
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
    std::unique_ptr<Queue> make_queue() override { return std::make_unique<HostQueue>(); }
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

std::unique_ptr<Code> host_code(HostFunction function)
{
    return std::make_unique<FunctionCode>(std::move(function));
}

} // namespace ptsched::device
