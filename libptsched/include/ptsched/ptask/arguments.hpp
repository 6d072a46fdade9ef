/* SPDX-License-Identifier: MIT */
/* What a function of the host gets of its ports. */
#ifndef PTSCHED_PTASK_ARGUMENTS_HPP
#define PTSCHED_PTASK_ARGUMENTS_HPP

#include <ptsched/ptask/port.hpp>

#include <functional>
#include <type_traits>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/*
 * Where a port's content is. Others may have the block of a port that only takes, so that its address is const: to make
 * another of it throws Error.
 */
class Argument {
public:
    Argument(const Port &port, void *address) : port_(port), address_(address) {}

    template <typename T> operator T *() const
    {
        if constexpr (!std::is_const_v<T>)
            check_written();
        return static_cast<T *>(address_);
    }
    /* Whether the function may write it. */
    bool is_written() const { return port_.gives(); }

private:
    void check_written() const;

    const Port &port_;
    void *const address_;
};

/* Of the ports that are parameters, in their order, counted from 0. */
class Arguments {
public:
    using Ports = std::vector<const Port *>;
    /* All of them are to stay as long. */
    Arguments(const Ports &ports, const std::vector<void *> &addresses) : ports_(ports), addresses_(addresses) {}
    std::size_t size() const { return ports_.size(); }
    /* Throws Error for a parameter that there is not. */
    Argument operator[](std::size_t parameter) const;

private:
    const Ports &ports_;
    const std::vector<void *> &addresses_;
};

/* Those of a task, as long as it lives. */
Arguments::Ports arguments_of(const Task &task);

/* What it throws fails the graph. */
using HostFunction = std::function<void(const Arguments &)>;

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_ARGUMENTS_HPP */
