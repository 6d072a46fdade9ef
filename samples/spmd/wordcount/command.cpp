// SPDX-License-Identifier: MIT
#include "samples/spmd/wordcount/command.hpp"

#include <ptsched/base/error.hpp>
#include <ptsched/base/fd.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ptsched::samples::wordcount {

namespace {

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> interrupted{0};

/* In a group of its own, with those that it starts. */
class Command {
public:
    Command(const std::string &text, std::vector<char *> environment, const std::string &output)
    {
        const char *const arguments[] = {"sh", "-c", text.c_str(), nullptr};
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        const int error =
            posix_spawn(&pid_, "/bin/sh", &actions, &attributes, const_cast<char **>(arguments), environment.data());
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        if (error)
            throw Error("cannot run " + text + ": " + std::strerror(error));
        ended_ = above_streams(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
        if (ended_)
            return;
        finish();
        throw Error("cannot wait for " + text + ": pidfd_open() needs Linux 5.3");
    }
    ~Command() { finish(); }
    Command(const Command &) = delete;
    Command &operator=(const Command &) = delete;

    bool ends_within(std::chrono::milliseconds time) const
    {
        pollfd ended{.fd = ended_.get(), .events = POLLIN, .revents = 0};
        return poll(&ended, 1, static_cast<int>(time.count())) > 0;
    }
    /* Ends whatever is left of the group, which has its number as long as it has not been waited for. */
    int finish()
    {
        if (pid_ <= 0)
            return 0;
        int status = 0;
        kill(-pid_, SIGKILL);
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_ = -1;
    UniqueFd ended_;
};

void check_interrupted(const std::string &command)
{
    if (interrupted)
        throw Error(command + ": interrupted by signal " + std::to_string(interrupted));
}

std::vector<std::string> with_variables(const std::map<std::string, std::string> &variables)
{
    std::vector<std::string> all;
    for (char **one = environ; *one; one++)
        if (const std::string text = *one; !variables.contains(text.substr(0, text.find('='))))
            all.push_back(text);
    for (const auto &[name, value] : variables)
        all.push_back(name + "=" + value);
    return all;
}

} // namespace

Interruptions::Interruptions()
{
    struct sigaction action = {};
    action.sa_handler = [](int signal) { interrupted = signal; };
    interrupted = 0;
    for (const int signal : ending_signals)
        sigaction(signal, &action, &before_[signal]);
}

Interruptions::~Interruptions()
{
    for (const auto &[signal, action] : before_)
        sigaction(signal, &action, nullptr);
}

void run_command(const std::string &command, const std::map<std::string, std::string> &variables,
                 const std::string &output, unsigned seconds)
{
    std::vector<std::string> environment = with_variables(variables);
    std::vector<char *> pointers;
    for (std::string &variable : environment)
        pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    check_interrupted(command);
    Command running(command, std::move(pointers), output);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!running.ends_within(std::chrono::milliseconds(100))) {
        check_interrupted(command);
        if (std::chrono::steady_clock::now() > until)
            throw Error(command + " has not ended within " + std::to_string(seconds) +
                        " seconds (--against-seconds says how many)");
    }
    const int status = running.finish();
    if (WIFSIGNALED(status))
        throw Error(command + " was ended by signal " + std::to_string(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        throw Error(command + " ended with status " + std::to_string(WEXITSTATUS(status)) +
                    ": it is to read $TEXT, print words and their numbers, and end with 0");
}

} // namespace ptsched::samples::wordcount
