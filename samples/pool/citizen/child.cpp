// SPDX-License-Identifier: MIT
#include "samples/pool/citizen/child.hpp"

#include <ptsched/base/error.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace ptsched::pool::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int exit_not_nice = 126, exit_not_started = 127;
constexpr auto patience = 60s, patience_at_end = 5s;

std::vector<char *> pointers(std::vector<std::string> &strings)
{
    std::vector<char *> found;
    for (std::string &string : strings)
        found.push_back(string.data());
    found.push_back(nullptr);
    return found;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string> &more)
{
    std::vector<std::string> all;
    for (char **entry = environ; *entry; entry++)
        if (!more.contains(std::string(*entry, std::strcspn(*entry, "="))))
            all.emplace_back(*entry);
    for (const auto &[name, value] : more)
        all.push_back(name + "=" + value);
    return all;
}

} // namespace

Child::Child(std::vector<std::string> words, const How &how)
    : name_(words.at(0) + (words.size() > 1 ? " " + words[1] : ""))
{
    std::vector<std::string> environment = environment_with(how.environment);
    const std::vector<char *> argv = pointers(words), envp = pointers(environment);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        throw Error(std::string("no socket for a program: ") + std::strerror(errno));
    const pid_t parent = getpid();
    pid_ = fork();
    if (!pid_) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDIN_FILENO);
        dup2(ends[1], how.answers_on_stderr ? STDERR_FILENO : STDOUT_FILENO);
        if (getppid() != parent || (how.nice && setpriority(PRIO_PROCESS, 0, *how.nice) < 0))
            _exit(exit_not_nice);
        execve(argv[0], argv.data(), envp.data());
        _exit(exit_not_started);
    }
    close(ends[1]);
    fd_ = ends[0];
    if (pid_ < 0) {
        close(fd_);
        throw Error("cannot start " + name_ + ": " + std::strerror(errno));
    }
}

void Child::end(bool by_signal)
{
    if (fd_ < 0)
        return;
    shutdown(fd_, SHUT_WR);
    if (by_signal)
        kill(pid_, SIGTERM);
    const auto until = Clock::now() + patience_at_end;
    bool ended = false;
    while (!(ended = waitpid(pid_, nullptr, WNOHANG) == pid_) && Clock::now() < until)
        std::this_thread::sleep_for(1ms);
    if (!ended) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(std::exchange(fd_, -1));
}

std::string Child::ask(const std::string &order)
{
    const std::string line = order + '\n';
    if (send(fd_, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        throw Error(name_ + " has ended, and was to " + order);
    return hear();
}

std::string Child::hear()
{
    const auto until = Clock::now() + patience;
    std::size_t end;
    while ((end = heard_.find('\n')) == std::string::npos) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        pollfd waited{.fd = fd_, .events = POLLIN, .revents = 0};
        char some[4096];
        if (left <= 0 || poll(&waited, 1, static_cast<int>(left)) == 0)
            throw Error(name_ + " does not answer");
        const ssize_t count = read(fd_, some, sizeof(some));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            siginfo_t info{};
            const bool known = !waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
            throw Error(name_ + (known && info.si_status == exit_not_nice
                                     ? " may not have its nice value: -20 needs root, or CAP_SYS_NICE"
                                     : " has ended with status " + std::to_string(info.si_status)));
        }
        heard_.append(some, static_cast<std::size_t>(count));
    }
    const std::string line = heard_.substr(0, end);
    heard_.erase(0, end + 1);
    return line;
}

} // namespace ptsched::pool::bench
