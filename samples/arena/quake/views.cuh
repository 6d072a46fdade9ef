/* SPDX-License-Identifier: MIT */
/* The mesh as kernels see it: linked, as it is, or what was made of it by hand. Both say the same of it. */
#ifndef SAMPLES_ARENA_QUAKE_VIEWS_CUH
#define SAMPLES_ARENA_QUAKE_VIEWS_CUH

#include "samples/arena/quake/flat.h"

namespace ptsched::quake {

struct LinkedView {
    Linked mesh;

    struct Row {
        const Block *blocks;
        __device__ const double *stiffness(unsigned int i) const { return blocks[i].stiffness; }
        __device__ const Motion &motion(unsigned int i) const { return *blocks[i].of; }
    };
    __device__ Row row(unsigned int node) const { return {mesh.nodes[node].row}; }
    __device__ unsigned int blocks(unsigned int node) const { return mesh.nodes[node].blocks; }
    __device__ Motion &motion(unsigned int node) const { return *mesh.nodes[node].motion; }
    __device__ double mass(unsigned int node) const { return mesh.nodes[node].mass; }
    __device__ double damping(unsigned int node) const { return mesh.nodes[node].damping; }
    __device__ Vector *record(unsigned int node) const { return mesh.nodes[node].record; }
    __device__ double push(unsigned int node, unsigned int step) const
    {
        return mesh.source->node == mesh.nodes + node ? mesh.source->push[step] : 0;
    }
    __device__ const Vector &place_of(unsigned int element, unsigned int corner) const
    {
        return mesh.elements[element].corners[corner]->place;
    }
    __device__ const Motion &motion_of(unsigned int element, unsigned int corner) const
    {
        return *mesh.elements[element].corners[corner]->motion;
    }
};

struct FlatView {
    Flat flat;

    struct Row {
        const double (*values)[9];
        const unsigned int *columns;
        const Motion *motions;
        __device__ const double *stiffness(unsigned int i) const { return values[i]; }
        __device__ const Motion &motion(unsigned int i) const { return motions[columns[i]]; }
    };
    __device__ Row row(unsigned int node) const
    {
        const unsigned int first = flat.first[node];
        return {flat.stiffness + first, flat.column + first, flat.motions};
    }
    __device__ unsigned int blocks(unsigned int node) const { return flat.first[node + 1] - flat.first[node]; }
    __device__ Motion &motion(unsigned int node) const { return flat.motions[node]; }
    __device__ double mass(unsigned int node) const { return flat.mass[node]; }
    __device__ double damping(unsigned int node) const { return flat.damping[node]; }
    __device__ Vector *record(unsigned int node) const
    {
        return flat.station[node] < stations ? flat.report->motion[flat.station[node]] : nullptr;
    }
    __device__ double push(unsigned int node, unsigned int step) const
    {
        return flat.source == node ? flat.push[step] : 0;
    }
    __device__ const Vector &place_of(unsigned int element, unsigned int corner) const
    {
        return flat.places[flat.corners[element].number[corner]];
    }
    __device__ const Motion &motion_of(unsigned int element, unsigned int corner) const
    {
        return flat.motions[flat.corners[element].number[corner]];
    }
};

} // namespace ptsched::quake

#endif /* SAMPLES_ARENA_QUAKE_VIEWS_CUH */
