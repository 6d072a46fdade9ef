/* SPDX-License-Identifier: MIT */
/*
 * The GPUs' part of a runtime: streams, what they are given and when it has ended, and where the contents of ranges
 * are. The runtime's workers call it between tasks of the host; nothing here waits for a GPU.
 */
#ifndef PTSCHED_TASKS_GPU_SIDE_HPP
#define PTSCHED_TASKS_GPU_SIDE_HPP

#include "libptsched/tasks/task.hpp"

#include <chrono>
#include <exception>
#include <optional>

namespace ptsched::tasks {

class Trace;

/* What the GPU side says, by whichever thread calls it; it holds no lock then. */
class GpuListener {
public:
    /* It has its position: tasks that depend on it may be given to streams. */
    virtual void given(Task &task) = 0;
    /* Its work has ended, or has failed, or could not be given: then @failure says why. */
    virtual void ended(Task &task, std::exception_ptr failure) = 0;
    /* expect() has referred to it, which is over. */
    virtual void release(Task &task) = 0;
    /* What a task of the host uses is there: see GpuSide::bring_home(). */
    virtual void is_home(Task &task, std::exception_ptr failure) = 0;
    /* There may be something for serve() to do: a turn has come. */
    virtual void wake() = 0;
    /* Where streams and copies have rows, and calls of functions are Called; null: nobody looks at it. */
    virtual Trace *trace() = 0;

protected:
    ~GpuListener() = default;
};

/* Thread-safe. */
class GpuSide {
public:
    /* Null where there are no devices. Throws Error if one has not what the options ask for. */
    static std::unique_ptr<GpuSide> make(const Options &options, GpuListener &listener);
    /* Nothing is in flight any more. */
    virtual ~GpuSide() = default;

    /*
     * A task of a GPU that waits for others, before these let it go: what it reads and none of them writes may come to
     * the device meanwhile. Refers to it until it has been given or has ended, and some time after that.
     */
    virtual void expect(Task &task) = 0;
    /*
     * A task of a GPU: all that it depends on has ended, or has been given to a stream, and its edges say where. It is
     * given by a later serve().
     */
    virtual void ready(Task &task) = 0;
    /*
     * Gives streams all that is ready, as far as there is a turn, and looks what has ended. Returns whether there was
     * something; at once if another thread is at it.
     */
    virtual bool serve() = 0;
    /* Whether serve() may have something to do without anybody calling ready(): something is in flight, or waits. */
    virtual bool is_busy() const = 0;

    /*
     * A task of the host is about to run. True if what it reads is on the host already; otherwise copies are begun, and
     * is_home() is called by a later serve() when they are there. What it writes counts as on the host alone from then
     * on, which what GPUs have of it no longer does.
     */
    virtual bool bring_home(Task &task) = 0;
    /*
     * The same for who waits: begins to bring @range, or all that was written on GPUs and is not on the host, nor to be
     * kept there, if it is null; true if all of it is there. To be asked again. Only what no task in flight writes may
     * be asked for. Throws what a copy failed with.
     */
    virtual bool bring_home(const Range *range) = 0;
    /*
     * What @range waits for before it can be brought while others read it: the last task that has written it and was
     * given, of no stream if there is none. Null: it is to be brought when all that use it have ended, since others
     * have bytes of it, or its pages move.
     */
    virtual std::optional<Position> last_writer(const Range &range) = 0;
    /* Whether the task there has ended; true if there is none. */
    virtual bool has_ended(const Position &position) const = 0;
    /* Whether to run a task on a GPU that may run on either: it is likely to be done first there. */
    virtual bool prefers_gpu(const Task &task) = 0;
    /* One that may run on either has run on the host, for so long. */
    virtual void ran_on_host(const Task &task, std::chrono::nanoseconds time) = 0;

    /* For arrays: on the host and, if it is managed, on GPUs. See Core. */
    virtual void *allocate(std::size_t bytes, Memory memory) = 0;
    /* No task uses any of it. */
    virtual void release(void *memory) noexcept = 0;
    /* An array. Those that are not its own, as the checker's, stay as they were. */
    virtual void keep_on_devices(void *memory) = 0;
    /* Whether @range is of an array that is kept so. */
    virtual bool is_kept(const Range &range) = 0;
    /* Adds to: on_devices, stream_waits, batches, the bytes. */
    virtual void count(State &state) const = 0;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_SIDE_HPP */
