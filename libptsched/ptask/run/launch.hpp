/* SPDX-License-Identifier: MIT */
/* How a run is given to a queue: where its blocks are, how large its outputs, what may be written in place. */
#ifndef PTSCHED_PTASK_RUN_LAUNCH_HPP
#define PTSCHED_PTASK_RUN_LAUNCH_HPP

#include "libptsched/ptask/graph/run.hpp"

namespace ptsched::ptask {

/* The number in a block of one integer whose content is on the host. */
std::uint64_t integer_in(Datablock &block);
/* Threads for all records, in blocks of 256, or of 16 x 16 for more than one dimension: there may be more. */
Geometry geometry_for(const std::array<std::size_t, 3> &dimensions);

class Launch {
public:
    /* @constants: of the task on the device, or null. */
    Launch(Run &run, device::Device &device, device::Queue &queue, Constants *constants)
        : run_(run), device_(device), queue_(queue), constants_(constants)
    {
    }

    /* Whether the code is to be left out: @run has its inputs. */
    static bool is_skipped(const Run &run);
    /* What a run without code gives on. */
    static void fill_skipped(Run &run);
    /* Gives the queue what makes the outputs, which are in the run then. */
    void start(const device::Code &code);

private:
    std::size_t bytes_of(const PortImpl &port) const;
    bool is_alone(std::size_t i) const;
    bool is_by_value(const PortImpl &port) const;
    void make_sized_outputs();
    void plan(std::size_t i);
    void plan_inout(std::size_t i);
    void add_parameter(std::size_t i);
    Geometry geometry() const;

    Run &run_;
    device::Device &device_;
    device::Queue &queue_;
    Constants *constants_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_RUN_LAUNCH_HPP */
