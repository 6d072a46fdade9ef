/* SPDX-License-Identifier: MIT */
/* A runtime without the types of its tasks' functions. Its user is Runtime, in tasks.hpp. */
#ifndef PTSCHED_TASKS_CORE_HPP
#define PTSCHED_TASKS_CORE_HPP

#include <ptsched/device/device.hpp>
#include <ptsched/device/turns.hpp>
#include <ptsched/tasks/range.hpp>

#include <chrono>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::tasks {

using device::Attach;
using device::Error;

/* What wait() throws when a task has failed: it names the task, and what was thrown is nested. */
class Failure : public Error {
public:
    using Error::Error;
};

/* How what is on the host comes to GPUs, and back. */
enum class Memory : std::uint8_t {
    copied,     /* copies, made before the tasks that need them */
    managed,    /* by the driver, page by page, when they are touched */
    prefetched, /* by the driver, before the tasks that need them, with advice from what they declare */
};
const char *to_string(Memory memory);

struct Options {
    /* Threads that run tasks, the one that waits included; 0: as many as the host has processors. */
    unsigned workers = 0;
    /* Empty: all of gpus(). */
    std::vector<device::Device *> devices = {};
    unsigned streams = 8; /* of each device, and as many for tasks with a priority; 1 to 64 */
    /* Of arrays that do not say otherwise. Other memory of the host is always copied. */
    Memory memory = Memory::copied;
    Attach attach = Attach::no; /* each device by turns */
    /*
     * For finding mistakes, slow: tasks run one at a time, by threads that wait, and what one touches of others' memory
     * that it has not declared is an Error of wait(). Until then, no other thread should touch what tasks declare.
     */
    bool check = false;
    /* Files to be written by the destructor, for Perfetto and for Graphviz; empty: none. */
    std::string timeline = {}, graph = {};
};

/* Of a task. */
struct Attributes {
    /* For errors and pictures. It must stay as long as the runtime: a literal. */
    const char *name = "task";
    /* Larger ones go first. */
    int priority = 0;
    /* By its place in Options::devices; -1: where it is likely to be done first. */
    int device = -1;
};

/* What a runtime has done so far. What adds up a reduction is a task, too. */
struct State {
    std::uint64_t made = 0, on_host = 0, on_devices = 0; /* tasks */
    std::uint64_t edges = 0;                             /* that made one wait for another */
    std::uint64_t stream_waits = 0, batches = 0;         /* of streams for each other; launches together */
    std::uint64_t bytes_to_devices = 0, bytes_to_host = 0, bytes_between = 0;
    std::uint64_t steals = 0, sleeps = 0;
    std::size_t live = 0; /* made and not ended, those inside others, too */
};

/* What a function is given, before it has a type. */
struct Call {
    std::span<const Access> accesses;
    const Place *places;
    /* Of a task on a GPU; null and -1 on the host. */
    device::Device *owner = nullptr;
    device::Queue *queue = nullptr;
    CUstream_st *stream = nullptr;
    int device = -1; /* its number in the driver's order */
};

/* A function with its arguments' makers, in memory of the task. */
struct Function {
    std::size_t bytes, alignment;
    void (*move)(void *to, void *from);
    void (*destroy)(void *) noexcept;
    /* Null: it cannot run there. */
    void (*on_host)(void *, const Call &);
    void (*on_gpu)(void *, const Call &);
};

class Core {
public:
    using Duration = std::chrono::nanoseconds;
    static constexpr Duration for_ever = Duration::max();

    /* Throws Error, saying what would do, if the options cannot be. */
    static std::unique_ptr<Core> make(Options options);
    virtual ~Core();
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;

    /* The function is moved from. @accesses are read before it returns. */
    virtual void add(const Attributes &attributes, const Function &function, void *from,
                     std::span<const Access> accesses) = 0;
    /* For the tasks that the calling task has made; outside of tasks, for all. False if it takes longer. */
    virtual bool wait(Duration most) = 0;
    /* For those that use @range. It is on the host then. */
    virtual bool wait(const Range &range, Duration most) = 0;
    /* Memory for arrays. */
    virtual void *allocate(std::size_t bytes, Memory memory) = 0;
    virtual void release(void *memory) noexcept = 0;
    virtual void keep_on_devices(void *memory) = 0;
    virtual const Options &options() const = 0;
    virtual State state() const = 0;

    /* Blocks until all tasks have ended, and logs a failure that nobody has waited for. */
    void wait_at_end() noexcept;

    /* Of a task whose function takes no arguments. Throws Error if it would need one. */
    static void check_list(const Attributes &attributes, std::span<const Access> accesses);

    /* The running task ends when, besides, drop_hold() was called as often. Throws Error outside of tasks. */
    static void *take_hold();
    static void drop_hold(void *task) noexcept;

protected:
    Core() = default;
};

} // namespace ptsched::tasks

#pragma GCC visibility pop

#endif /* PTSCHED_TASKS_CORE_HPP */
