// SPDX-License-Identifier: MIT
#include "tests/conformance/tap.hpp"

#include "libptsched/base/time_calls.hpp"

#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tap {
namespace {

/* Half of what there is, since that begins a little earlier. */
constexpr std::uint64_t kSlowNs = 500000000;

/* When the running case was told to hurry; 0 if it was not. */
std::uint64_t hurry_ns;

enum class Result { kPassed, kFailed, kSlow, kSkipped };

/* Why the running case was skipped; its process tells it to this one. */
struct Reason {
    char text[256];
};

Reason *reason()
{
    static void *shared = mmap(nullptr, sizeof(Reason), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? nullptr : static_cast<Reason *>(shared);
}

struct Registered {
    const char *name;
    std::function<void()> body;
};

std::vector<Registered> &cases()
{
    static std::vector<Registered> list;
    return list;
}

Result run_here(const Registered &test, const std::function<void()> &before)
{
    try {
        before();
        test.body();
        return Result::kPassed;
    } catch (const Skipped &error) {
        if (reason())
            snprintf(reason()->text, sizeof(reason()->text), "%s", error.what());
        return Result::kSkipped;
    } catch (const std::exception &error) {
        bool slow = hurry_ns && ptsched::monotonic_ns() - hurry_ns >= kSlowNs;
        printf("# %s%s\n", error.what(), slow ? ", but it was slow" : "");
        return slow ? Result::kSlow : Result::kFailed;
    }
}

Result run_one(const Registered &test, const std::function<void()> &before)
{
    fflush(stdout);
    /* Before there are two processes. */
    reason();
    pid_t pid = fork();
    if (pid < 0) {
        printf("# fork: %s\n", strerror(errno));
        return Result::kFailed;
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        Result result = run_here(test, before);
        fflush(stdout);
        _exit(static_cast<int>(result));
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status))
        printf("# %s\n", strsignal(WTERMSIG(status)));
    return WIFEXITED(status) ? static_cast<Result>(WEXITSTATUS(status)) : Result::kFailed;
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
        Result result;
        do {
            result = run_one(*test, before);
        } while (result == Result::kSlow);
        bool skipped = result == Result::kSkipped, passed = skipped || result == Result::kPassed;
        failed += !passed;
        printf("%sok %d - %s", passed ? "" : "not ", ++number, test->name);
        if (skipped)
            printf(" # SKIP %s", reason() ? reason()->text : "");
        printf("\n");
    }
    return failed ? 1 : 0;
}

void hurry()
{
    hurry_ns = ptsched::monotonic_ns();
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
