/* SPDX-License-Identifier: MIT */
/*
 * A part of a graph that a GPU can be given as one program: kernels that pass blocks of fixed size to each other, each
 * of which runs once for each set of blocks that comes in. Nothing that leaves a subgraph comes back into it, so that a
 * set needs nothing but what comes from outside.
 */
#ifndef PTSCHED_PTASK_REPLAY_SUBGRAPH_HPP
#define PTSCHED_PTASK_REPLAY_SUBGRAPH_HPP

#include "libptsched/ptask/graph/channel.hpp"

namespace ptsched::ptask {

/* Where a value is while a program runs. Who only changes what nobody else reads has the one of the value before. */
struct SubgraphBuffer {
    std::size_t bytes = 0;
    bool has_room = true;                /* in the subgraph's own memory; else it is always a block of somebody's */
    std::size_t offset = 0;              /* there */
    std::vector<std::size_t> users = {}; /* steps that are told its address */
};

/* A kernel, or a copy within the device's memory. */
struct SubgraphStep {
    struct Argument {
        bool by_value;
        std::size_t what; /* of what is fixed, or a buffer */
    };
    const TaskImpl *task = nullptr; /* null: a copy */
    std::vector<Argument> arguments = {};
    std::size_t to = 0, from = 0;
    std::vector<std::size_t> after = {};
};

/* A block for each set. */
struct SubgraphInput {
    Channel *channel;
    std::size_t buffer;
    bool is_filled; /* the buffer gets the content before each run, since the subgraph changes it */
};

struct SubgraphOutput {
    std::vector<Channel *> channels;
    std::size_t buffer, writer; /* a step */
    bool is_kept;               /* for another set, when nobody else has the block; else who takes it may change it */
    bool for_host;              /* who takes it runs there */
    bool may_be_there = false;  /* the step that writes it is alone to use it, and nobody takes it to a device */
};

/* What stays from set to set: the block of a sticky port, or an initial one. */
struct SubgraphConstant {
    PortImpl *port;
    std::optional<std::size_t> buffer;   /* none: it is passed by value */
    std::vector<std::size_t> users = {}; /* steps, then */
};

struct Subgraph {
    std::vector<TaskImpl *> tasks; /* each after those whose blocks it takes */
    std::vector<SubgraphBuffer> buffers;
    std::vector<SubgraphStep> steps; /* in an order in which they could run */
    std::vector<SubgraphInput> inputs;
    std::vector<SubgraphOutput> outputs;
    std::vector<SubgraphConstant> fixed;
    std::size_t inside_bytes = 0;
    bool ends_at_once = false; /* one step comes after all others, and writes all outputs */
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_SUBGRAPH_HPP */
