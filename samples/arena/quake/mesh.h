/* SPDX-License-Identifier: MIT */
/* The ground as tetrahedra, which are linked by pointers. */
#ifndef SAMPLES_ARENA_QUAKE_MESH_H
#define SAMPLES_ARENA_QUAKE_MESH_H

namespace ptsched::quake {

constexpr unsigned int stations = 64, most_steps = 64; /* steps: before the host is told of them */
constexpr unsigned int threads = 256, lanes = 16;      /* threads of a thread block, and for each node */

struct Vector {
    double x, y, z;
};

/* How far a node is from its place, after even steps and after odd ones. */
struct Motion {
    Vector at[2];
};

/* What the motion of one node does to another: a matrix, by rows. */
struct Block {
    double stiffness[9];
    const Motion *of;
};

struct Node {
    Vector place;
    double mass, damping;
    Motion *motion;
    const Block *row; /* of all nodes that share an element with it, itself included */
    unsigned int blocks;
    Vector *record; /* where its motion after each step goes, or null */
};

struct Element {
    const Node *corners[4];
};

/* What the host says before some steps. */
struct Source {
    const Node *node;
    double push[most_steps]; /* upwards, by steps */
};

/* What it is told after them. */
struct Report {
    float strain; /* the largest of an edge */
    Vector motion[stations][most_steps];
};

/* For kernels. */
struct Linked {
    const Node *nodes;
    const Element *elements;
    const Source *source;
};

} // namespace ptsched::quake

#endif /* SAMPLES_ARENA_QUAKE_MESH_H */
