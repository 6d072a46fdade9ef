/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_COHERENCE_WORK_HPP
#define PTSCHED_ARENA_COHERENCE_WORK_HPP

#include "libptsched/arena/coherence/region.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ptsched::arena {

/* See Coherence::Options::turn. */
using Turn = std::shared_ptr<const void>;
using MakeTurn = std::function<Turn()>;

/* Work of GPUs, which begins when there is some. For one thread at a time. */
class Work {
public:
    /* @turn: null: it is made when it is needed. The others outlive it. */
    Work(GpuSide &gpus, const MakeTurn &make_turn, Turn turn)
        : gpus_(gpus), make_turn_(make_turn), turn_(std::move(turn))
    {
    }
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

    GpuWork &get()
    {
        if (!work_) {
            if (!turn_ && make_turn_)
                turn_ = make_turn_();
            work_ = gpus_.begin();
        }
        return *work_;
    }
    /* On the host when it has ended, and not if that fails. */
    void add_fetched(Extent &extent, const PageSet &pages) { fetched_.emplace_back(&extent, pages); }
    /* Blocks until all is done. Throws Error if that failed. */
    void finish();

private:
    GpuSide &gpus_;
    const MakeTurn &make_turn_;
    std::vector<std::pair<Extent *, PageSet>> fetched_;
    Turn turn_;
    std::unique_ptr<GpuWork> work_; /* ends first */
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_WORK_HPP */
