// SPDX-License-Identifier: MIT
#include "tap.hpp"

#include <cstdio>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tap {
namespace {

// Only a hang takes so long; the kernel with all checks on is slow.
constexpr unsigned kHangSeconds = 300;

struct Registered {
    const char *name;
    std::function<void()> body;
};

std::vector<Registered> &cases()
{
    static std::vector<Registered> list;
    return list;
}

int run_here(const Registered &test, const std::function<void()> &before)
{
    try {
        before();
        test.body();
        return 0;
    } catch (const std::exception &error) {
        printf("# %s\n", error.what());
        return 1;
    }
}

bool run_one(const Registered &test, const std::function<void()> &before)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        printf("# fork: %s\n", strerror(errno));
        return false;
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(kHangSeconds);
        int status = run_here(test, before);
        fflush(stdout);
        _exit(status);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status))
        printf("# %s\n", WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

Case::Case(const char *name, std::function<void()> body)
{
    cases().push_back({name, std::move(body)});
}

int run(const std::string &filter, const std::function<void()> &before)
{
    std::vector<const Registered *> chosen;
    for (const Registered &test : cases())
        if (std::string(test.name).find(filter) != std::string::npos)
            chosen.push_back(&test);
    printf("1..%zu\n", chosen.size());
    int failed = 0, number = 0;
    for (const Registered *test : chosen) {
        bool passed = run_one(*test, before);
        failed += !passed;
        printf("%sok %d - %s\n", passed ? "" : "not ", ++number, test->name);
    }
    return failed ? 1 : 0;
}

std::string errno_name(long value)
{
    if (value >= 0 || value < -4095)
        return std::to_string(value);
    const char *name = strerrorname_np(static_cast<int>(-value));
    return name ? std::string("-") + name : std::to_string(value);
}

void fail(const char *file, int line, const std::string &text)
{
    throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + text);
}

} // namespace tap
