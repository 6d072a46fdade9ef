// SPDX-License-Identifier: MIT
/* ptsched record: what the scheduler does, as a trace for Perfetto. */
#include "libptsched/base/time_calls.hpp"
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/stop_signals.hpp"
#include "tools/ptsched/timeline.hpp"
#include "tools/ptsched/trace_file.hpp"
#include "tools/ptsched/units.hpp"

#include <algorithm>
#include <cstdio>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace ptsched {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
/* What happened up to the end of a recording is told within so long, or not at all. */
constexpr std::uint64_t patience_ns = second_ns / 5;

/* A program that is recorded, until it ends. */
class Program {
public:
    Program(std::vector<std::string> words, const sigset_t &mask)
    {
        std::vector<char *> arguments;
        for (std::string &word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);

        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setsigmask(&attributes, &mask);
        int error = posix_spawnp(&pid_, arguments[0], nullptr, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        if (error)
            throw Error("cannot run " + words[0] + ": " + strerror(error),
                        error == ENOENT ? exit_not_found : exit_cannot_invoke);
        pidfd_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
        if (!pidfd_)
            throw Error(std::string("pidfd_open: ") + strerror(errno));
    }

    /* Readable once it has ended. */
    int fd() const { return pidfd_.get(); }

    void send(int signal) const { kill(pid_, signal); }

    /* As a shell has it; of one that still runs, that of the signal that it was sent. */
    int status() const
    {
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) != pid_)
            return 128 + SIGTERM;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    pid_t pid_ = 0;
    UniqueFd pidfd_;
};

/* A line on a terminal, written over again and again. */
class Progress {
public:
    void show(const std::string &text)
    {
        if (terminal_)
            std::fprintf(stderr, "\rptsched: %s\033[K", text.c_str());
    }
    void end(const std::string &text)
    {
        std::fprintf(stderr, "%sptsched: %s\n", terminal_ ? "\r\033[K" : "", text.c_str());
    }

private:
    bool terminal_ = isatty(STDERR_FILENO) == 1;
};

std::string with_unit(std::uint64_t count, const std::string &one, const std::string &many)
{
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

class Recording {
public:
    Recording(Scheduler &scheduler, const RecordOptions &options, int stop)
        : scheduler_(scheduler), events_(scheduler.subscribe()), path_(options.output), trace_(options.output, stop),
          start_ns_(monotonic_ns()), timeline_(trace_, start_ns_)
    {
        look();
        trace_.flush();
    }

    /* Until @stop says so, @program has ended or @end_ns. */
    void run(const StopSignals &stop, const Program *program, std::uint64_t end_ns)
    {
        for (std::uint64_t tick_ns = start_ns_; !is_over(stop, program, end_ns);) {
            take();
            if (monotonic_ns() < tick_ns)
                continue;
            tick_ns = monotonic_ns() + second_ns;
            tick();
        }
    }

    /* Waits for what has happened until now. */
    void catch_up()
    {
        const std::uint64_t end_ns = monotonic_ns();

        for (std::uint64_t now_ns = end_ns; last_ns_ < end_ns && now_ns < end_ns + patience_ns; now_ns = monotonic_ns())
            if (has_more(end_ns + patience_ns - now_ns))
                take();
    }

    void finish()
    {
        timeline_.finish(monotonic_ns());
        trace_.flush();
        progress_.end(summary() + " in " + path_ + (path_ == "-" ? "" : "; https://ui.perfetto.dev opens it"));
    }

private:
    Scheduler &scheduler_;
    int events_;
    std::string path_;
    TraceFile trace_;
    std::uint64_t start_ns_;
    Timeline timeline_;
    Progress progress_;
    std::uint64_t count_ = 0;
    std::uint64_t losses_ = 0;
    std::uint64_t last_ns_ = 0; /* of the latest event */
    std::uint64_t looked_ns_ = 0;

    /* How things are: of those of whom no event comes it is all there is. */
    void look()
    {
        add_devices();
        std::vector<Entity> entities = scheduler_.entities();
        looked_ns_ = monotonic_ns();
        timeline_.add_state(entities, looked_ns_);
    }

    void add_devices()
    {
        for (const Device &device : scheduler_.devices())
            if (!timeline_.knows(device.id))
                timeline_.add_device(device);
    }

    bool is_over(const StopSignals &stop, const Program *program, std::uint64_t end_ns)
    {
        pollfd fds[] = {{.fd = events_, .events = POLLIN, .revents = 0},
                        {.fd = stop.fd(), .events = POLLIN, .revents = 0},
                        {.fd = program ? program->fd() : -1, .events = POLLIN, .revents = 0}};
        const std::uint64_t now_ns = monotonic_ns();

        if (now_ns >= end_ns)
            return true;
        if (poll_within(fds, std::size(fds), std::min(end_ns - now_ns, second_ns)) < 0 && errno != EINTR)
            throw Error(std::string("poll: ") + strerror(errno));
        if (fds[1].revents) {
            const int signal = stop.next();
            /* One from the terminal the program has got, too, and it may have its own mind about that. */
            if (program && signal == SIGINT)
                return false;
            if (program)
                program->send(signal);
            return true;
        }
        return fds[2].revents;
    }

    bool has_more(std::uint64_t within_ns) const
    {
        pollfd fd{.fd = events_, .events = POLLIN, .revents = 0};
        return poll_within(&fd, 1, within_ns) > 0;
    }

    /* What has come. */
    void take()
    {
        for (const Event &event : scheduler_.read_events()) {
            if (event.event == PTSCHED_EVENT_LOST) {
                losses_++;
                timeline_.lose(monotonic_ns());
                look();
                continue;
            }
            last_ns_ = std::max(last_ns_, event.time_ns);
            count_++;
            /* It may have come since. */
            if (!timeline_.knows(event.device_id))
                add_devices();
            timeline_.add(event);
        }
    }

    void tick()
    {
        if (monotonic_ns() - looked_ns_ > patience_ns)
            timeline_.settle();
        trace_.flush();
        progress_.show(summary());
    }

    std::string summary() const
    {
        char seconds[32];
        std::snprintf(seconds, sizeof(seconds), "%.1f s, ",
                      static_cast<double>(monotonic_ns() - start_ns_) / second_ns);
        return seconds + with_unit(count_, "event", "events") + " of " +
               with_unit(timeline_.processes(), "process", "processes") + ", " +
               with_unit((trace_.bytes() + 1023) / 1024, "KiB", "KiB") +
               (losses_ ? ", events were lost " + with_unit(losses_, "time", "times") : "");
    }
};

} // namespace

int record(const RecordOptions &options)
{
    /* What is wrong with the words is said before anything is done. */
    std::vector<std::string> words = program_words("record", options.words, options.words_after_dashes);
    std::uint64_t limit_ns = UINT64_MAX;
    if (!options.seconds.empty() && !words.empty())
        throw Error("record ends with the program or after --seconds: give one of them", 2);
    if (!options.seconds.empty())
        limit_ns = parse_thousandths("seconds", options.seconds, 1, 1'000'000'000'000) * (second_ns / 1000);

    StopSignals stop;
    auto scheduler = open_scheduler(options.choice);
    Recording recording(*scheduler, options, stop.fd());
    std::optional<Program> program;
    if (!words.empty())
        program.emplace(std::move(words), stop.before());
    const std::uint64_t now_ns = monotonic_ns();
    try {
        recording.run(stop, program ? &*program : nullptr,
                      limit_ns < UINT64_MAX - now_ns ? now_ns + limit_ns : UINT64_MAX);
        recording.catch_up();
    } catch (const Error &) {
        /* What has been recorded until then is good. */
        recording.finish();
        throw;
    }
    recording.finish();
    return program ? program->status() : 0;
}

} // namespace ptsched
