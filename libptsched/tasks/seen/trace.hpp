/* SPDX-License-Identifier: MIT */
/* What a runtime did and when, as a file for Perfetto: Options::timeline. */
#ifndef PTSCHED_TASKS_SEEN_TRACE_HPP
#define PTSCHED_TASKS_SEEN_TRACE_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/base/nvtx.hpp"
#include "libptsched/tasks/seen/output.hpp"
#include "libptsched/tasks/task.hpp"
#include <ptsched/base/chrono_clock.hpp>

#include <deque>
#include <map>
#include <thread>

namespace ptsched::tasks {

/*
 * It keeps what is added, of which each thread has a row of its own, until it goes: then it writes the file. The names
 * of spans stay as long. Thread-safe.
 */
class Trace {
public:
    struct Span {
        const char *name;
        std::uint64_t task; /* its number; 0: of none */
        Clock::time_point began, ended;
        std::uint64_t bytes = 0; /* of a copy */
    };

    /* One line of the picture. */
    class Row {
    public:
        enum class Spans {
            nested,   /* as a thread's calls */
            in_order, /* each begins when the one before it has ended: as in a stream, where it waits until then */
        };
        Row(Trace &trace, std::string group, std::string name, Spans spans)
            : trace_(trace), group_(std::move(group)), name_(std::move(name)), spans_are_(spans)
        {
        }
        void add(Span span) noexcept;
        /* The same; right behind another one, both are one. */
        void add_idle(Clock::time_point began, Clock::time_point ended) noexcept;

    private:
        friend class Trace;
        void add_locked(const Span &span) PTSCHED_REQUIRES(mutex_);

        static constexpr std::size_t at_once = 512;

        Trace &trace_;
        const std::string group_, name_;
        const Spans spans_are_;
        SmallMutex mutex_;
        std::vector<std::unique_ptr<Span[]>> chunks_ PTSCHED_GUARDED_BY(mutex_);
        std::size_t size_ PTSCHED_GUARDED_BY(mutex_) = 0;
        std::uint64_t lost_ PTSCHED_GUARDED_BY(mutex_) = 0;
        Clock::time_point last_ended_ PTSCHED_GUARDED_BY(mutex_){};
    };

    /* Throws Error if there can be no such file. */
    explicit Trace(const std::string &path);
    /* Nobody adds anything any more. Logs it if the file cannot be written. */
    ~Trace();
    Trace(const Trace &) = delete;
    Trace &operator=(const Trace &) = delete;

    /* Say, "copies to the device" of a GPU. It stays as long as this. Throws std::bad_alloc. */
    Row &add_row(const std::string &group, const std::string &name, Row::Spans spans = Row::Spans::in_order);
    /* The calling thread is one of the runtime's. */
    void name_this_thread(const std::string &name);
    Row &of_this_thread();

private:
    /* So many chunks are kept, about a million of spans. */
    static constexpr unsigned most_chunks = 2048;

    Row &row_of_thread(const std::string &name);

    const std::uint64_t number_; /* no other has had it */
    const Clock::time_point origin_ = Clock::now();
    Output output_;
    std::atomic<unsigned> chunks_{0};
    Mutex mutex_;
    std::deque<Row> rows_ PTSCHED_GUARDED_BY(mutex_);
    std::map<std::thread::id, Row *> of_threads_ PTSCHED_GUARDED_BY(mutex_);
    unsigned unnamed_threads_ PTSCHED_GUARDED_BY(mutex_) = 0;
};

/* As long as it lives, the calling thread does that; @trace null: it is not recorded. */
class Timed {
public:
    Timed(Trace *trace, const char *name, std::uint64_t task = 0)
        : trace_(trace), span_{name, task, trace ? Clock::now() : Clock::time_point{}, {}}
    {
    }
    ~Timed()
    {
        if (!trace_)
            return;
        span_.ended = Clock::now();
        trace_->of_this_thread().add(span_);
    }
    Timed(const Timed &) = delete;
    Timed &operator=(const Timed &) = delete;

private:
    Trace *const trace_;
    Trace::Span span_;
};

/* The same for who has nothing to do. */
class Resting {
public:
    explicit Resting(Trace *trace) : trace_(trace), began_(trace ? Clock::now() : Clock::time_point{}) {}
    ~Resting()
    {
        if (trace_)
            trace_->of_this_thread().add_idle(began_, Clock::now());
    }
    Resting(const Resting &) = delete;
    Resting &operator=(const Resting &) = delete;

private:
    Trace *const trace_;
    const Clock::time_point began_;
};

inline NvtxDomain nvtx_domain("ptsched tasks");

/* As long as it lives, the calling thread has called the function of a task. */
class Called {
public:
    Called(Trace *trace, const Task &task)
        : range_(nvtx_domain, task.attributes.name), timed_(trace, task.attributes.name, task.number)
    {
    }

private:
    const NvtxRange range_;
    const Timed timed_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_SEEN_TRACE_HPP */
