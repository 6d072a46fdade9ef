/* SPDX-License-Identifier: MIT */
/*
 * What maps: the cores of a processor, or a GPU. The node gives an engine pieces of the input, as many at a time as it
 * takes, and gets pairs back.
 */
#ifndef PTSCHED_SPMD_RUN_ENGINE_HPP
#define PTSCHED_SPMD_RUN_ENGINE_HPP

#include "libptsched/spmd/output/placed.hpp"
#include "libptsched/spmd/pairs/pair_range.hpp"
#include "libptsched/spmd/schedule/range.hpp"
#include <ptsched/spmd/program.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ptsched::spmd {

/* Whole records of the input. What it points to stays until the piece is done. */
struct Piece {
    Block block = {};
    /*
     * Its pairs come back with it, combined with no other piece's, since sums are to have one order. Otherwise the
     * engine may keep them, combine them with later pieces', and give them to collect().
     */
    bool alone = false;
    /*
     * The same bytes come again, with other parameters, in this block or one that is a part of it, though maybe at
     * another address: a copy on the device is worth keeping until forget_input().
     */
    bool again = false;
    /* Nothing of the partition is likely to follow it: pairs that are kept back had better come with it. */
    bool last = false;
    /* Not null: pairs may go there rather than come back; each does one of the two. */
    Placed *placed = nullptr;
};

/* So few pairs are not worth another thread: who has them sorts and combines them. */
constexpr std::size_t few_pairs = 4096;

/*
 * Pairs in any order, keys more than once where the program does not combine them. If there is an exception, there are
 * no pairs. Called once for each piece, by any thread, maybe before start() returns. It throws nothing; the node sorts
 * the pairs meanwhile, unless that thread is a GPU's: then one of the node's own does.
 */
using Done = std::function<void(Pairs &&, std::exception_ptr)>;

class Engine {
public:
    virtual ~Engine() = default; /* waits for what is under way */

    virtual std::string name() const = 0; /* for reports: "cpu", "gpu 0" */
    virtual bool is_gpu() const = 0;
    /* Of a GPU, in the driver's order. */
    virtual unsigned number() const { return 0; }
    /* Bytes of a GPU's memory; 0: not known. */
    virtual std::uint64_t memory() const { return 0; }
    /* Pieces that may be under way: cores, or streams. The node starts no more. */
    virtual unsigned at_once() const = 0;
    /* Of a GPU: threads of its own that have work of the host to do for each piece, besides waiting for it. */
    virtual unsigned host_threads() const { return 0; }
    /* Does not wait. Called by one thread at a time. */
    virtual void start(const Piece &piece, Done done) = 0;
    /* How many portions it has kept back of pieces that are done; called when none is under way, as the next ones. */
    virtual unsigned kept() const = 0;
    /* Gives one of them, from 0 on, each once. Does not wait. Called by one thread at a time. */
    virtual void collect(unsigned portion, Done done) = 0;
    /*
     * Of cores whose program combines, by one of the node's workers: combines pairs that another engine has mapped with
     * those that are kept back. Returns what is not kept.
     */
    virtual Pairs combine(unsigned, const PairRange &some)
    {
        Pairs all(some.pairs.keys.width(), some.pairs.values.width());
        all.append(some.pairs, some.first, some.count);
        return all;
    }
    /* Pieces of that range will come, and come again: they had better lie together. Called before them. */
    virtual void expect_input(const schedule::Range &) {}
    /* Whether a piece that is all of that range would be there already. */
    virtual bool has_input(const schedule::Range &) const { return false; }
    /* Copies of the input are not what it is now. Called when nothing is under way. */
    virtual void forget_input() {}
    /* Drops pairs that were kept back: the partition that they are of is done elsewhere. Nothing is under way. */
    virtual void forget_pairs() = 0;
};

class Workers;
/*
 * One core runs a block at a time. Both outlive it. @kept: bytes of pairs that each of them keeps back. Without a map
 * it combines alone.
 */
std::unique_ptr<Engine> make_cpu_engine(const Program &program, Workers &workers, std::size_t kept);

class KnownFunctions;
/* Which GPUs a node uses. */
struct GpuChoice {
    std::vector<unsigned> which = {}; /* by their numbers in the driver's order; empty: all, see host_ranks */
    /* Ranks of this host, and which of them asks: GPUs are dealt to them, or ranks to GPUs where those are fewer. */
    unsigned host_rank = 0, host_ranks = 1;
    unsigned streams = 0;                /* pieces at a time of each; 0: as the engine thinks fit */
    bool attach = true;                  /* its turns are ptsched's, where there is a scheduler */
    KnownFunctions *functions = nullptr; /* those that need not be loaded again, if it has some; outlives the engines */
};

/*
 * An engine for each GPU that can run the program; none where there is no GPU. Throws Error where the program has
 * functions for GPUs that cannot be had: a module without them, say. Both it and its program outlive the engines.
 */
std::vector<std::unique_ptr<Engine>> make_gpu_engines(const Program &program, const GpuChoice &choice);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_ENGINE_HPP */
