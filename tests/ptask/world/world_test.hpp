/* SPDX-License-Identifier: MIT */
#ifndef PTASK_WORLD_TEST_HPP
#define PTASK_WORLD_TEST_HPP

#include "libptsched/base/worker.hpp"
#include "libptsched/ptask/ipc/packet.hpp"
#include "tests/ptask/ptask_test.hpp"
#include <ptsched/ptask/server.hpp>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <numeric>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace test {

using ptsched::Stop;
using ptsched::UniqueFd;
using ptsched::Worker;

Cases stream_cases();
Cases remote_cases();
Cases hostile_cases();
Cases loan_cases();
Cases fault_cases();
/* What a process does whose driver is lost afterwards. */
int fault_role(const std::string &role);
/* What another process does that serves a graph at @path. */
int remote_role(const std::string &role, const std::string &path);
/* What another process does for these; it has its end of a conversation. */
int loan_role(const std::string &role, const std::string &path, int socket);

/* Adds 1 to what passes: on a GPU if the form is fixed. */
struct Line {
    explicit Line(const Template &form, std::size_t capacity = 16)
        : task(form.layout == Layout::fixed
                   ? graph.cuda("line", {ptask_kernels(), "successor"},
                                {inout("x", form), constant("n", static_cast<unsigned>(form.records()))})
                   : graph.callback("line",
                                    [](Call &call) {
                                        int *x = call.at<int>(0);
                                        std::for_each(x, x + call.records(0), [](int &value) { value++; });
                                    },
                                    {inout("x", form)})),
          x(graph.input(task["x"], capacity)), y(graph.output(task["x"], capacity))
    {
    }

    Graph graph;
    Task &task;
    Input &x;
    Output &y;
};

inline std::vector<int> numbers(std::size_t count, int first = 0)
{
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
}

inline std::size_t bytes_of(const std::vector<int> &values)
{
    return values.size() * sizeof(int);
}

/* Blocks until all is written. */
inline bool write_all(int fd, const std::vector<int> &values)
{
    std::size_t done = 0;
    while (done < bytes_of(values)) {
        ssize_t more = write(fd, reinterpret_cast<const char *>(values.data()) + done, bytes_of(values) - done);
        if (more <= 0)
            return false;
        done += static_cast<std::size_t>(more);
    }
    return true;
}

/* Blocks until the end of the file. */
inline std::vector<int> read_all(int fd)
{
    std::vector<int> values;
    std::array<char, sizeof(int)> bytes;
    for (;;) {
        std::size_t got = 0;
        while (got < bytes.size()) {
            ssize_t more = read(fd, bytes.data() + got, bytes.size() - got);
            if (more <= 0)
                return values;
            got += static_cast<std::size_t>(more);
        }
        values.push_back(*reinterpret_cast<int *>(bytes.data()));
    }
}

/* A folder for a socket. */
struct Place {
    Place() { CHECK(mkdtemp(folder.data())); }
    ~Place() { std::filesystem::remove_all(folder); }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;
    std::string path() const { return folder + "/graph"; }
    std::string folder = "/tmp/ptask-world-XXXXXX";
};

inline const auto eight = Template::of<int>(8);

/* A line of eight numbers that is served. */
struct Served {
    Served() { line.graph.run(); }
    std::string path() const { return place.path(); }

    Place place;
    Line line{eight};
    Server server{place.path(), {{"x", &line.x}}, {{"y", &line.y}}};
};

/* The next packet; blocks until it is there. */
inline Packet packet_from(const UniqueFd &socket)
{
    for (;;) {
        pollfd waited = {socket.get(), POLLIN, 0};
        poll(&waited, 1, -1);
        if (std::optional<Packet> packet = receive_packet(socket.get()))
            return std::move(*packet);
    }
}

/* Connected as one that pushes or pulls there. */
inline UniqueFd connected(const std::string &path, Packet::Kind kind, const std::string &port)
{
    UniqueFd socket = socket_at(path, false);
    Packet hello;
    hello.head.kind = kind;
    hello.text = port;
    CHECK(send_packet(socket.get(), hello));
    CHECK_EQ(packet_from(socket).head.flags, std::uint32_t{Packet::done});
    return socket;
}

inline Packet answer_to(const UniqueFd &socket, const Packet &request)
{
    CHECK(send_packet(socket.get(), request));
    return packet_from(socket);
}

inline bool says(const Packet &answer, std::uint32_t flags, const std::string &words)
{
    const bool right = answer.head.flags == flags && answer.text.find(words) != std::string::npos;
    if (!right)
        std::printf("# it says %u: %s\n", answer.head.flags, answer.text.c_str());
    return right;
}

/* Another process, which ends with its owner. */
class Child {
public:
    /* Of fork(); in the other process, it is false. */
    explicit Child(pid_t pid) : pid_(pid) {}
    ~Child()
    {
        if (pid_ > 0)
            end(SIGKILL);
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    explicit operator bool() const { return pid_; }
    /* Blocks until it does nothing any more, as long as it is not to go on. */
    void stop()
    {
        int status = 0;
        kill(pid_, SIGSTOP);
        CHECK_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
        CHECK(WIFSTOPPED(status));
    }
    void go_on() { kill(pid_, SIGCONT); }
    /* The status of its end. */
    int end(int signal = 0)
    {
        int status = -1;
        if (signal)
            kill(pid_, signal);
        waitpid(std::exchange(pid_, -1), &status, 0);
        return status;
    }

private:
    pid_t pid_;
};

/* This program in another process, which begins anew: a driver does not survive a fork. */
[[noreturn]] inline void begin_anew(const std::vector<std::string> &arguments)
{
    std::string name = "ptask-world";
    std::vector<char *> words{name.data()};
    for (const std::string &argument : arguments)
        words.push_back(const_cast<char *>(argument.c_str()));
    words.push_back(nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv("/proc/self/exe", words.data());
    _exit(127);
}

/* What it does there; its status. */
inline int play(const std::string &role, const std::function<void()> &work)
{
    try {
        work();
    } catch (const std::exception &error) {
        std::printf("# %s: %s\n", role.c_str(), error.what());
        tap::failed_here = true;
    }
    std::fflush(stdout);
    return tap::failed_here;
}

/* As long as it lives, there are only so many descriptors more. */
class FewFiles {
public:
    explicit FewFiles(unsigned more = 0)
    {
        const UniqueFd next(open("/dev/null", O_RDONLY | O_CLOEXEC));
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
        rlimit few = before_;
        few.rlim_cur = static_cast<rlim_t>(next.get()) + more;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    }
    ~FewFiles() { CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
    FewFiles(const FewFiles &) = delete;
    FewFiles &operator=(const FewFiles &) = delete;

private:
    rlimit before_{};
};

struct Pipe {
    Pipe()
    {
        int fds[2];
        if (!CHECK(pipe2(fds, O_CLOEXEC) == 0))
            std::abort();
        from = UniqueFd(fds[0]);
        to = UniqueFd(fds[1]);
    }
    UniqueFd from, to;
};

} // namespace test

#endif /* PTASK_WORLD_TEST_HPP */
