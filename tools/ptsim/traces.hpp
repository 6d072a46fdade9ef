/* SPDX-License-Identifier: MIT */
/* Traces shaped like those of GPU clusters that have been published, made up from the figures given there. */
#ifndef PTSIM_TRACES_HPP
#define PTSIM_TRACES_HPP

#include "tools/ptsim/scenario.hpp"

namespace ptsim {

Scenario philly(const Scale &scale);
Scenario helios(const Scale &scale);
Scenario pai(const Scale &scale);

} // namespace ptsim

#endif
