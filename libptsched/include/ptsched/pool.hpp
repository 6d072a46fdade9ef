/* SPDX-License-Identifier: MIT */
/*
 * Tasks that are too small for a launch each: a kernel stays on the GPU, and its blocks take tasks from slots in the
 * host's memory, as CAGTP has it (T. Li et al., Chinese Journal of Computers 41(10), 2018, sections 3 and 4). A task is
 * a struct of 16 to 256 bytes that is trivially copyable; what the device makes of it comes back in the same struct.
 *
 *	Pool<Square> pool({.kernel = [](auto &gpu) { return device::cuda_code(gpu, "squares.cubin", "squares"); }});
 *	pool.push(Square{3.0, 0});
 *	std::optional<Square> done = pool.pop();
 *
 * The kernel is written with pool.cuh. Tasks are independent of each other and run in no particular order: who has
 * those that depend on others pushes them when the others have come back, for which there may be several outputs.
 *
 * A pool is a good guest of its device: it leaves when ptsched calls it back (attach), or when there has been nothing
 * to do for a while, and is there again with its next turn, or the next task. What waits, in queues and slots, stays.
 */
#ifndef PTSCHED_POOL_HPP
#define PTSCHED_POOL_HPP

#include <ptsched/device/device.hpp>
#include <ptsched/device/turns.hpp>
#include <ptsched/pool/slots.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <variant>
#include <vector>

namespace ptsched::pool {

class CoreImpl;

} // namespace ptsched::pool

#pragma GCC visibility push(default)

namespace ptsched::pool {

using device::Attach;
using device::Error;

/* A pool that has failed: it names the tasks that were begun, and what was thrown is nested. */
class Failure : public Error {
public:
    using Error::Error;
};

/* A task for a pool that takes no more: it is closed, or was stopped. */
class Closed : public Error {
public:
    using Error::Error;
};

/* Where a task may run. */
enum class Where : std::uint8_t {
    device,
    host,
    either, /* on the host while no device has room */
};

struct Options {
    /* For a device: calls serve() of pool.cuh, and its only parameter is Slots. Empty: the pool has the host alone. */
    std::function<std::unique_ptr<device::Code>(device::Device &)> kernel;
    /* Empty: all of gpus(). */
    std::vector<device::Device *> devices = {};
    unsigned threads = 128;    /* in a block: a multiple of 32 */
    unsigned shared_bytes = 0; /* dynamic shared memory of a block */
    unsigned blocks = 0; /* on each device; 0: as many as are there at once, but no more than for each 512 threads */
    unsigned depth = 4;  /* slots of a block: a power of two, at most 64 */
    unsigned outputs = 1;
    unsigned priorities = 1;     /* 1 to 16 */
    std::size_t capacity = 8192; /* tasks that may wait: of each priority; and results of each output */
    unsigned host_threads = 0;   /* of the machine's host pool, for tasks that may run on the host */
    Attach attach = Attach::no;  /* each device by turns */
    /* After so long without a task the kernel leaves the device. */
    std::chrono::nanoseconds idle = std::chrono::milliseconds(50);
    /* For so long the destructor waits for a task that a block has begun. */
    std::chrono::nanoseconds patience = std::chrono::seconds(5);
};

/* How a task is pushed. */
struct Push {
    unsigned output = 0; /* to which it comes back */
    Where where = Where::device;
    int device = -1;       /* by its place in Options::devices; -1: any */
    unsigned priority = 0; /* larger ones go first */
    bool operator==(const Push &) const = default;
};

/*
 * A task that comes back to who pushed it, and to no output, for who waits for that one task. It stays where it is
 * until it has come back, or the pool has ended.
 */
class alignas(64) Receipt {
public:
    Receipt() = default;
    Receipt(const Receipt &) = delete;
    Receipt &operator=(const Receipt &) = delete;

    /* The task, as it is to be pushed, and then as it has come back. */
    std::byte *task() { return task_; }
    bool is_back() const { return is_back_.load(std::memory_order_acquire); }
    /* From now on it is not back: as pushing it does. */
    void renew() { is_back_.store(false, std::memory_order_relaxed); }

private:
    friend class CoreImpl;
    std::atomic<bool> is_back_{false};
    /* Whole pieces are written. */
    alignas(Piece) std::byte task_[most_bytes + sizeof(Piece)];
};

/* What a pool has done so far. */
struct State {
    std::uint64_t on_devices = 0, on_host = 0; /* tasks that have ended there */
    std::uint64_t launches = 0, parks = 0;     /* how often a kernel came to a device, and left it */
    std::size_t in_slots = 0;
    bool resident = false; /* on one device at least */
    /* From when it was last called back until nothing of it was on the device; the longest of all devices. */
    std::chrono::nanoseconds last_park{0};
};

/* A pool without the types of its tasks. Its user is Pool, below. */
class Core {
public:
    struct Kind {
        std::string name;
        std::size_t bytes;
    };
    using HostFunction = std::function<void(void *task)>;
    using Duration = std::chrono::nanoseconds;
    static constexpr Duration for_ever = Duration::max();

    /* Throws Error, saying what would do, if options or kinds cannot be. */
    static std::unique_ptr<Core> make(Options options, std::vector<Kind> kinds);
    virtual ~Core();
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;

    virtual void on_host(unsigned kind, HostFunction function) = 0;
    /* @count tasks, one behind the other; how many of them there was room for in that time. */
    virtual std::size_t push(unsigned kind, const void *tasks, std::size_t count, const Push &how, Duration most) = 0;
    /*
     * @take for each, @count at most; returns how many there were. Waits for the first of them only. @number: it was
     * the n-th to be pushed for its output.
     */
    using Take = std::function<void(unsigned kind, const std::byte *task, std::uint64_t number)>;
    virtual std::size_t pop(unsigned output, std::size_t count, const Take &take, Duration most) = 0;
    virtual std::size_t unfinished(unsigned output) const = 0;
    virtual void close() = 0;
    virtual void stop() = 0;
    /* stop(), and waits as the destructor does: no work of it is on devices any more. */
    virtual void end() = 0;
    virtual bool wait(Duration most) = 0;
    virtual State state() const = 0;
    /*
     * Pushes the task that is in @receipt, for a device; its output is none. False if there was no room in that time.
     * Receipts are not unfinished(), and wait() does not wait for them.
     */
    virtual bool send(unsigned kind, Receipt &receipt, const Push &how, Duration most) = 0;
    /*
     * Blocks until it has come back; false if that takes longer. Looks for a while before it sleeps. Throws Failure,
     * and Closed if the pool was stopped.
     */
    virtual bool await(const Receipt &receipt, Duration most) = 0;
    /* Of the kernel on a device, by its place in Options::devices. */
    virtual unsigned blocks(unsigned device) const = 0;

protected:
    Core() = default;
};

/* Types that tasks can have: the first is of kind 0 and so on. */
template <typename... Tasks> struct TaskTypes {
    static_assert(sizeof...(Tasks) >= 1 && sizeof...(Tasks) <= most_kinds, "1 to 256 kinds of task");
    static_assert((... && std::is_trivially_copyable_v<Tasks>), "tasks are copied byte by byte");
    static_assert((... && (sizeof(Tasks) >= fewest_bytes && sizeof(Tasks) <= most_bytes)),
                  "tasks have 16 to 256 bytes");
    static_assert((... && (alignof(Tasks) <= alignof(Piece))), "tasks are aligned to at most 16 bytes");

    template <typename Task> static constexpr unsigned kind()
    {
        static_assert((... || std::is_same_v<Task, Tasks>), "the pool has no tasks of this type");
        unsigned at = 0;
        (void)(... || (std::is_same_v<Task, Tasks> || (at++, false)));
        return at;
    }
    static std::vector<Core::Kind> all() { return {Core::Kind{typeid(Tasks).name(), sizeof(Tasks)}...}; }
};

/*
 * Tasks of these types, which are kinds 0, 1 ... of the kernel. All of it may be called by any thread, but for
 * on_host() and the destructor. Where a task has failed, by a fault of the device or by throwing on the host, all calls
 * from then on throw Failure, which names the tasks that were begun.
 */
template <typename... Tasks> class Pool {
    using Types = TaskTypes<Tasks...>;

public:
    /* What comes back: the task, or one of them. */
    using Any = std::conditional_t<sizeof...(Tasks) == 1, std::variant_alternative_t<0, std::variant<Tasks...>>,
                                   std::variant<Tasks...>>;
    using Duration = Core::Duration;

    /* Makes the kernel for each device; nothing is launched before the first task. */
    explicit Pool(Options options) : core_(Core::make(std::move(options), Types::all())) {}
    /*
     * Stops. Waits for tasks that blocks have begun, as long as Options::patience says; if one has not ended then, its
     * kernel stays on the device until the process ends, with the memory that it uses, which is logged.
     */
    ~Pool() = default;

    /* What a task of a kind does on the host. Before the first is pushed that may run there. */
    template <typename Task> void on_host(std::function<void(Task &)> function)
    {
        core_->on_host(kind<Task>(),
                       [function = std::move(function)](void *task) { function(*static_cast<Task *>(task)); });
    }

    /* Blocks while as many wait as may. Throws Closed if the pool is closed or was stopped. */
    template <typename Task> void push(const Task &task, const Push &how = {})
    {
        core_->push(kind<Task>(), &task, 1, how, Core::for_ever);
    }
    /* All of them, in less time than one by one. */
    template <typename Task> void push_all(std::span<const Task> tasks, const Push &how = {})
    {
        core_->push(kind<Task>(), tasks.data(), tasks.size(), how, Core::for_ever);
    }
    /* The same for so long at most; false if there was no room. */
    template <typename Task> bool push_for(const Task &task, Duration most, const Push &how = {})
    {
        return core_->push(kind<Task>(), &task, 1, how, most) == 1;
    }
    template <typename Task> bool try_push(const Task &task, const Push &how = {})
    {
        return push_for(task, Duration::zero(), how);
    }

    /* Blocks until a task has come back; nothing if none will: the pool is closed and all have, or it was stopped. */
    std::optional<Any> pop(unsigned output = 0) { return pop_for(Core::for_ever, output); }
    /* The same for so long at most; nothing, too, if none has come. */
    std::optional<Any> pop_for(Duration most, unsigned output = 0)
    {
        std::optional<Any> any;
        core_->pop(
            output, 1, [&](unsigned kind, const std::byte *task, std::uint64_t) { any = make(kind, task); }, most);
        return any;
    }
    /* As pop(), and with the first what has come back besides: as many as @tasks has room for. Returns how many. */
    std::size_t pop_some(std::span<Any> tasks, unsigned output = 0)
    {
        std::size_t i = 0;
        return core_->pop(
            output, tasks.size(),
            [&](unsigned kind, const std::byte *task, std::uint64_t) { tasks[i++] = make(kind, task); },
            Core::for_ever);
    }
    std::optional<Any> try_pop(unsigned output = 0) { return pop_for(Duration::zero(), output); }

    /* Pushed for this output and not popped. */
    std::size_t unfinished(unsigned output = 0) const { return core_->unfinished(output); }
    /* No more tasks come. */
    void close() { core_->close(); }
    /* What has not been begun is dropped; who waits is told that there is no more. */
    void stop() { core_->stop(); }
    /* Blocks until all that was pushed can be popped; false if that takes longer. */
    void wait() { core_->wait(Core::for_ever); }
    bool wait_for(Duration most) { return core_->wait(most); }

    State state() const { return core_->state(); }

private:
    template <typename... Of> friend class Ordered;

    template <typename Task> static constexpr unsigned kind() { return Types::template kind<Task>(); }

    static Any make(unsigned kind, const std::byte *task)
    {
        if constexpr (sizeof...(Tasks) == 1) {
            return *reinterpret_cast<const Any *>(task);
        } else {
            std::optional<Any> any;
            unsigned at = 0;
            (void)(... || (at++ == kind && (any.emplace(*reinterpret_cast<const Tasks *>(task)), true)));
            return *any;
        }
    }

    const std::unique_ptr<Core> core_;
};

} // namespace ptsched::pool

#pragma GCC visibility pop

#endif /* PTSCHED_POOL_HPP */
