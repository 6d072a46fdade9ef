/* SPDX-License-Identifier: MIT */
/* Work whose length is a number of steps, and whose result is known without doing it. */
#ifndef SAMPLES_POOL_CITIZEN_CHAINS_HPP
#define SAMPLES_POOL_CITIZEN_CHAINS_HPP

#include "samples/pool/citizen/tasks.h"
#include <ptsched/base/error.hpp>

#include <string>

namespace ptsched::pool::bench {

/* Several steps, as one. */
class Walk {
public:
    explicit Walk(unsigned long long steps)
    {
        unsigned long long factor = step_factor, summand = step_summand;
        for (; steps; steps /= 2) {
            if (steps % 2) {
                factor_ *= factor;
                summand_ = summand_ * factor + summand;
            }
            summand += summand * factor;
            factor *= factor;
        }
    }
    unsigned long long from(unsigned long long value) const { return value * factor_ + summand_; }

private:
    unsigned long long factor_ = 1, summand_ = 0;
};

/* Tasks of so many steps. */
class Chains {
public:
    explicit Chains(unsigned steps) : steps_(steps), walk_(steps) {}
    Chain make(unsigned number) const { return {number, steps_, number}; }
    /* Throws Error if it has not come back as it should. */
    void check(const Chain &task) const
    {
        if (task.value != walk_.from(task.number))
            throw Error("task " + std::to_string(task.number) + " came back with a wrong result");
    }

private:
    const unsigned steps_;
    const Walk walk_;
};

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_CITIZEN_CHAINS_HPP */
