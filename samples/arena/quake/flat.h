/* SPDX-License-Identifier: MIT */
/* The mesh without pointers: nodes and elements are numbers. */
#ifndef SAMPLES_ARENA_QUAKE_FLAT_H
#define SAMPLES_ARENA_QUAKE_FLAT_H

#include "samples/arena/quake/mesh.h"

namespace ptsched::quake {

struct alignas(16) Corners {
    unsigned int number[4];
};

struct Flat {
    const unsigned int *first; /* block of each node, and behind the last */
    const double (*stiffness)[9];
    const unsigned int *column;
    const double *mass, *damping;
    const unsigned int *station; /* of each node; no less than there are: none */
    const Vector *places;
    const Corners *corners;
    Motion *motions;
    const double *push;
    Report *report;
    unsigned int source; /* a node */
};

} // namespace ptsched::quake

#endif /* SAMPLES_ARENA_QUAKE_FLAT_H */
