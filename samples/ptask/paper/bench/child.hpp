/* SPDX-License-Identifier: MIT */
/* Programs that a measurement starts: with another driver, with fewer GPUs, or because it needs several. */
#ifndef PTSCHED_PAPER_CHILD_HPP
#define PTSCHED_PAPER_CHILD_HPP

#include <ptsched/base/fd.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ptsched::paper {

class Child {
public:
    using Variables = std::map<std::string, std::string>;

    /*
     * Starts a program of this one's folder with the environment of this process changed by @variables; its standard
     * input and output are @in and @out, which stay the caller's. Throws Error if it cannot.
     */
    Child(const std::string &program, const std::vector<std::string> &arguments, int in, int out,
          const Variables &variables = {});
    /* Blocks until it has ended. */
    ~Child() { wait(); }
    Child(Child &&other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
    Child &operator=(Child &&) = delete;
    /* Blocks until it has ended; whether that was well. */
    bool wait();

private:
    pid_t pid_ = 0; /* 0 once it has ended */
};

struct Pipe {
    /* Its ends go to no child by themselves. Throws Error if there are no descriptors left. */
    Pipe();
    UniqueFd reader, writer;
};

/* Runs bench-ptask; the numbers that it prints. Throws Error if it fails or prints none. */
std::vector<double> numbers_of_child(const std::vector<std::string> &arguments, const Child::Variables &variables);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_CHILD_HPP */
