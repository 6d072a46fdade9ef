/* SPDX-License-Identifier: MIT */
/*
 * The fluid schedule: at each instant, all who have work in it are served at once, by weight (generalized processor
 * sharing, Parekh and Gallager, 1993). Its virtual time runs at one over their weight, so that an event costs a
 * logarithm, however many there are.
 */
#ifndef PTSIM_FLUID_HPP
#define PTSIM_FLUID_HPP

#include "tools/ptsim/units.hpp"

#include <cstddef>
#include <limits>
#include <queue>
#include <vector>

namespace ptsim {

class Fluid {
public:
    /* Work without end. */
    static constexpr double kForever = std::numeric_limits<double>::infinity();

    explicit Fluid(std::size_t programs) : programs_(programs) {}

    void advance(Ns now);
    void add(std::uint32_t id, std::uint32_t weight, double work_ns);

    /* What it has been served until now. */
    double service_ns(std::uint32_t id) const;

private:
    struct Program {
        bool busy = false;
        std::uint32_t weight = 0;
        double served = 0; /* before @since */
        double since = 0;  /* virtual */
        double finish = 0; /* virtual */
    };

    struct Finish {
        double at;
        std::uint32_t id;
        bool operator>(const Finish &other) const { return at != other.at ? at > other.at : id > other.id; }
    };

    void finish(Program &program);

    std::vector<Program> programs_;
    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes_; /* some are out of date */
    Ns now_ = 0;
    double virtual_ = 0;
    std::uint64_t weight_ = 0;
};

} // namespace ptsim

#endif
