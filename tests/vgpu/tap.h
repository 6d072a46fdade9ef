/* SPDX-License-Identifier: MIT */
/* Test Anything Protocol, for programs whose checks are not CMocka's. */
#ifndef VGPU_TAP_H
#define VGPU_TAP_H

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fnmatch.h>
#include <functional>
#include <string>
#include <vector>

namespace tap {

inline bool failed_here = false;

inline bool check(bool condition, const char *text, const char *file, int line)
{
    if (!condition) {
        failed_here = true;
        std::printf("# %s:%d: not true: %s\n", file, line, text);
    }
    return condition;
}

template <typename A, typename B>
void check_equal(const A &got, const B &want, const char *text, const char *file, int line)
{
    if (got == want)
        return;
    failed_here = true;
    std::printf("# %s:%d: %s is %s, not %s\n", file, line, text, std::to_string(got).c_str(),
                std::to_string(want).c_str());
}

struct Case {
    std::string name;
    std::function<void()> body;
    std::string why_skipped = {}; /* empty: it is not */
};

/* Those that PTSCHED_CASE, a pattern as the shell's, matches; without that, all. */
inline std::vector<Case> chosen(std::vector<Case> cases)
{
    const char *pattern = std::getenv("PTSCHED_CASE");
    if (pattern)
        std::erase_if(cases, [&](const Case &one) { return fnmatch(pattern, one.name.c_str(), 0) != 0; });
    if (cases.empty())
        std::printf("Bail out! no case is called as PTSCHED_CASE says\n");
    return cases;
}

/* Runs those that are chosen, in order; the exit status for main(). */
inline int run(const std::vector<Case> &all)
{
    const std::vector<Case> cases = chosen(all);
    int failures = cases.empty();

    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("TAP version 13\n1..%zu\n", cases.size());
    for (size_t i = 0; i < cases.size(); i++) {
        if (!cases[i].why_skipped.empty()) {
            std::printf("ok %zu - %s # SKIP %s\n", i + 1, cases[i].name.c_str(), cases[i].why_skipped.c_str());
            continue;
        }
        failed_here = false;
        try {
            cases[i].body();
        } catch (const std::exception &error) {
            failed_here = true;
            std::printf("# it has thrown: %s\n", error.what());
        }
        std::printf("%s %zu - %s\n", failed_here ? "not ok" : "ok", i + 1, cases[i].name.c_str());
        failures += failed_here;
    }
    return failures ? 1 : 0;
}

} // namespace tap

#define CHECK(condition) tap::check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, want) tap::check_equal((got), (want), #got, __FILE__, __LINE__)

#endif /* VGPU_TAP_H */
