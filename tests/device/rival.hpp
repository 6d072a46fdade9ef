/* SPDX-License-Identifier: MIT */
/* A broker for the virtual GPUs, and another process that takes turns from it. */
#ifndef TEST_DEVICE_RIVAL_HPP
#define TEST_DEVICE_RIVAL_HPP

#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"

#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <sys/socket.h>

namespace test {

/* What a rival does; the program is to call it if its first argument is that. */
inline constexpr char rival_argument[] = "rival";
int rival();

/* A program of its own, with a socket for its input and what it says. */
class Child {
public:
    explicit Child(std::vector<std::string> words, int output = STDOUT_FILENO)
    {
        int ends[2];
        std::vector<char *> argv;
        for (std::string &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
            throw std::runtime_error("no socket for a program");
        pid_ = fork();
        if (!pid_) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(ends[1], STDIN_FILENO);
            dup2(ends[1], output);
            execv(argv[0], argv.data());
            _exit(127);
        }
        close(ends[1]);
        fd_ = ends[0];
    }
    ~Child()
    {
        close(fd_);
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    void tell(char what) { CHECK(write(fd_, &what, 1) == 1); }
    /* Waits until it says something; 0 if it ends without. */
    char told()
    {
        char what = 0;
        return read(fd_, &what, 1) == 1 ? what : '\0';
    }

    /* Waits until it has said that; false if it ends without. */
    bool has_told(const std::string &words)
    {
        std::string said;
        while (said.find(words) == std::string::npos)
            if (const char what = told())
                said += what;
            else
                return false;
        return true;
    }

private:
    pid_t pid_ = -1;
    int fd_ = -1;
};

/* A scheduler for the virtual GPUs, which is found as long as this lives. */
class Broker {
public:
    /* No turn is shared by force, however busy the machine is. */
    Broker()
        : program_(
              {folder() + "/../bin/ptschedd", "--socket", socket(), "--test-devices", "2", "--drain-us", "10000000"},
              STDERR_FILENO)
    {
        setenv("PTSCHED_DEVICE_NODE", "/nowhere", 1);
        setenv("PTSCHED_SOCKET", socket().c_str(), 1);
        CHECK(program_.has_told("listening"));
    }
    ~Broker() { unlink(socket().c_str()); }
    Broker(const Broker &) = delete;
    Broker &operator=(const Broker &) = delete;

    /* What ptsched stat counts of this process on the first GPU, and whether it waits there. */
    nlohmann::json counters() const;
    std::uint64_t counter(const char *name) const;
    std::string state() const;

private:
    nlohmann::json entity() const;
    static std::string socket() { return "/tmp/device-turns-" + std::to_string(getpid()); }
    Child program_;
};

/* Another process, which takes the turn when it is told to, and gives it back. */
class Rival : public Child {
public:
    Rival() : Child({std::filesystem::read_symlink("/proc/self/exe"), rival_argument}) { CHECK(told() == 'r'); }
};

} // namespace test

#endif /* TEST_DEVICE_RIVAL_HPP */
