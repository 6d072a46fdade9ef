/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PAPER_PIPES_HPP
#define PTSCHED_PAPER_PIPES_HPP

#include "samples/ptask/paper/gestures.hpp"

namespace ptsched::paper {

/*
 * The gestural interface as four processes that are joined by pipes, each a "gesture" of this program's folder; a run
 * begins when the camera is triggered. Throws Error if they cannot be started; they end with it.
 */
std::unique_ptr<Executor> make_pipes(const Gpu &gpu, const Scene &scene, const Deliver &deliver);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_PIPES_HPP */
