/* SPDX-License-Identifier: MIT */
/* What there is before a variant has it in its memory: tetrahedra, made by us, and what their motion comes to. */
#ifndef SAMPLES_ARENA_QUAKE_GROUND_HPP
#define SAMPLES_ARENA_QUAKE_GROUND_HPP

#include "samples/arena/quake/mesh.h"

#include <array>
#include <vector>

namespace ptsched::quake {

using Matrix = std::array<double, 9>;     /* by rows */
using Corners4 = std::array<unsigned, 4>; /* of an element: numbers of nodes */

struct Ground {
    explicit Ground(unsigned side); /* cubes, of six elements each, in a row */
    unsigned source = 0;
    std::vector<Vector> places;
    std::vector<double> mass, damping;
    std::vector<Corners4> elements;
    std::vector<unsigned> stations; /* nodes, on the surface */
    /* Of each node the blocks from @first on, up to those of the next. */
    std::vector<unsigned> first, columns;
    std::vector<Matrix> blocks;

private:
    void make_places(unsigned side);
    void make_elements(unsigned side);
    void find_neighbours();
    void add_up();
};

/* Of an elastic element, from the motion of its corner @j to the force at its corner @i. */
Matrix stiffness_of(const Ground &ground, const Corners4 &corners, unsigned i, unsigned j);

} // namespace ptsched::quake

#endif /* SAMPLES_ARENA_QUAKE_GROUND_HPP */
