/* SPDX-License-Identifier: MIT */
/* What there is to draw: a graph of nodes that are linked by pointers. */
#ifndef SAMPLES_ARENA_WORLD_SCENE_H
#define SAMPLES_ARENA_WORLD_SCENE_H

namespace ptsched::world {

constexpr unsigned int block_side = 16; /* of the pixels of a thread block */

struct Vector {
    float x, y, z;
};

struct Triangle {
    Vector corners[3];
};

/* In the sphere around the origin with the radius 1. */
struct Mesh {
    const Triangle *triangles;
    unsigned int count;
};

struct Material {
    Vector colour;
    float mirror; /* how much of the light it only reflects */
};

struct Sphere {
    Vector centre;
    float radius;
};

/* A group, or what is seen: a mesh, or the sphere itself. */
struct Node {
    Sphere bounds;      /* of all that is inside */
    const Node *inside; /* of a group the first; else null */
    const Node *next;   /* where to go on after it; after the last of a group, where one goes on after that */
    const Mesh *mesh;   /* or null */
    const Material *material;
};

/* What a picture is drawn with. */
struct Frame {
    Vector eye, ahead, right, up, light; /* the latter is where it comes from */
    float exposure;
    unsigned int width, height;
};

} // namespace ptsched::world

#endif /* SAMPLES_ARENA_WORLD_SCENE_H */
