/* SPDX-License-Identifier: MIT */
/* A scene as rays see it: linked, as it is, or what was made of it by hand. Both say the same of it. */
#ifndef SAMPLES_ARENA_WORLD_VIEWS_H
#define SAMPLES_ARENA_WORLD_VIEWS_H

#include "samples/arena/world/scene.h"

#ifdef __CUDACC__
#define ON_BOTH_SIDES __host__ __device__
#else
#define ON_BOTH_SIDES
#endif

namespace ptsched::world {

struct LinkedView {
    const Node *root;

    using Place = const Node *;
    ON_BOTH_SIDES Place begin() const { return root; }
    ON_BOTH_SIDES bool is_end(Place place) const { return !place; }
    ON_BOTH_SIDES const Sphere &bounds(Place place) const { return place->bounds; }
    ON_BOTH_SIDES bool is_group(Place place) const { return place->inside; }
    ON_BOTH_SIDES Place inside(Place place) const { return place->inside; }
    ON_BOTH_SIDES Place next(Place place) const { return place->next; }
    ON_BOTH_SIDES const Material *material(Place place) const { return place->material; }
    ON_BOTH_SIDES unsigned int triangles(Place place) const { return place->mesh ? place->mesh->count : 0; }
    ON_BOTH_SIDES const Triangle &triangle(Place place, unsigned int i) const { return place->mesh->triangles[i]; }
};

/* In the order in which one goes through all of them. */
struct FlatNode {
    Sphere bounds;
    unsigned int next;   /* the count: none */
    unsigned short kind; /* what it is, or a mesh */
    unsigned short material;
    static constexpr unsigned short group = 0xffff, sphere = 0xfffe;
};

struct FlatMesh {
    unsigned int first, count;
};

struct FlatView {
    const FlatNode *nodes;
    const FlatMesh *meshes;
    const Triangle *all_triangles;
    const Material *materials;
    unsigned int count;

    using Place = unsigned int;
    ON_BOTH_SIDES Place begin() const { return 0; }
    ON_BOTH_SIDES bool is_end(Place place) const { return place == count; }
    ON_BOTH_SIDES const Sphere &bounds(Place place) const { return nodes[place].bounds; }
    ON_BOTH_SIDES bool is_group(Place place) const { return nodes[place].kind == FlatNode::group; }
    ON_BOTH_SIDES Place inside(Place place) const { return place + 1; }
    ON_BOTH_SIDES Place next(Place place) const { return nodes[place].next; }
    ON_BOTH_SIDES const Material *material(Place place) const { return materials + nodes[place].material; }
    ON_BOTH_SIDES unsigned int triangles(Place place) const
    {
        return nodes[place].kind < FlatNode::sphere ? meshes[nodes[place].kind].count : 0;
    }
    ON_BOTH_SIDES const Triangle &triangle(Place place, unsigned int i) const
    {
        return all_triangles[meshes[nodes[place].kind].first + i];
    }
};

} // namespace ptsched::world

#endif /* SAMPLES_ARENA_WORLD_VIEWS_H */
