/* SPDX-License-Identifier: MIT */
/* Programs: when they have work, and how much. */
#ifndef PTSIM_PROGRAM_HPP
#define PTSIM_PROGRAM_HPP

#include "tools/ptsim/units.hpp"

#include <functional>
#include <optional>
#include <string>

namespace ptsim {

struct Burst {
    Ns due;
    Ns work_ns;
    bool by_new_process = false; /* the one that did the last one ends before */
};

/* The burst after the one that ended at @now, the first after the program has come; none: it ends. */
using Pattern = std::function<std::optional<Burst>(Ns now)>;

/* Has always work. */
Pattern hog();
/* So much work each @period; one that is late by more than that is left out. */
Pattern frames(Ns period, Ns work_ns);
/* Thinks for a time that is drawn (exponential), asks for so much work, and waits for it. */
Pattern requests(std::uint64_t seed, Ns mean_think, Ns work_ns);
/* One burst, then it ends. */
Pattern job(Ns work_ns);
/* A new process for each burst, one after another. */
Pattern respawning(Ns work_ns);

struct Program {
    std::string group;
    int nice = 0;
    std::uint32_t user = 0;
    Ns kernel_ns = kMs; /* the last one of a burst is shorter */
    Ns arrives = 0;
    Pattern pattern;
};

} // namespace ptsim

#endif
