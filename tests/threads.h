/* SPDX-License-Identifier: MIT */
/* What threads do, so that a test waits for that and not for a time. */
#ifndef PTSCHED_TESTS_THREADS_H
#define PTSCHED_TESTS_THREADS_H

#include "tests/comes_true.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace test {

/* Needs no descriptor once it is made. */
class ThreadState {
public:
    explicit ThreadState(pid_t tid) : file_("/proc/" + std::to_string(tid) + "/stat") {}
    /* As ps(1) has it, S for one that sleeps; 0 when the thread has ended. */
    char get()
    {
        std::string text;
        file_.clear();
        file_.seekg(0);
        std::getline(file_, text);
        const std::size_t name_end = text.rfind(')');
        return name_end == std::string::npos || name_end + 2 >= text.size() ? '\0' : text[name_end + 2];
    }

private:
    std::ifstream file_;
};

/* Those of this process that there are when it is made, but the caller's. */
class OtherThreads {
public:
    OtherThreads()
    {
        for (const auto &task : std::filesystem::directory_iterator("/proc/self/task"))
            if (const pid_t tid = std::atoi(task.path().filename().c_str()); tid != gettid())
                states_.emplace_back(tid);
    }
    /*
     * Until all do; false if that takes far longer than anything in a test does. Twice in a row, since one that was
     * looked at late may have woken one that was looked at before.
     */
    [[nodiscard]] bool until_asleep()
    {
        const auto sleeps = [](ThreadState &state) {
            const char now = state.get();
            return now == 'S' || !now;
        };
        unsigned in_row = 0;
        return comes_true([&] {
            in_row = std::all_of(states_.begin(), states_.end(), sleeps) ? in_row + 1 : 0;
            return in_row == 2;
        });
    }

private:
    std::vector<ThreadState> states_;
};

} // namespace test

#endif /* PTSCHED_TESTS_THREADS_H */
