/* SPDX-License-Identifier: MIT */
/* Programs that this one starts: each is told what to do by a line, and answers by one. */
#ifndef SAMPLES_POOL_CITIZEN_CHILD_HPP
#define SAMPLES_POOL_CITIZEN_CHILD_HPP

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptsched::pool::bench {

class Child {
public:
    struct How {
        std::optional<int> nice = {};                        /* none: this process's */
        std::map<std::string, std::string> environment = {}; /* besides this process's */
        bool answers_on_stderr = false;
    };

    /* Throws Error if it cannot be started, or may not have that nice value. */
    Child(std::vector<std::string> words, const How &how);
    /* end(), if it has not ended. */
    ~Child() { end(); }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    /* Its answer. Blocks for a minute at most; throws Error where that is not enough, or it has ended. */
    std::string ask(const std::string &order);
    /* Its next line, as if asked. */
    std::string hear();
    /* Its input ends, at which it is to end; if it does not in five seconds, it is killed. */
    void end(bool by_signal = false);

private:
    const std::string name_;
    pid_t pid_ = -1;
    int fd_ = -1;
    std::string heard_; /* behind the last line */
};

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_CITIZEN_CHILD_HPP */
