/* SPDX-License-Identifier: MIT */
/* A scene in a variant's memory, which the host changes from picture to picture. */
#ifndef SAMPLES_ARENA_WORLD_SCENE_HPP
#define SAMPLES_ARENA_WORLD_SCENE_HPP

#include "samples/arena/common/resources.hpp"
#include "samples/arena/world/scene.h"
#include "samples/arena/world/things.hpp"

#include <array>
#include <vector>

namespace ptsched::world {

class Scene {
public:
    Scene(std::pmr::memory_resource &memory, unsigned width, unsigned height);
    ~Scene();
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;
    /* As the world now is: nodes come and go. */
    void update(const Things &things, float exposure);

    const Node *root() const { return root_; }
    std::span<Node> fixed() const { return fixed_; } /* the ground, and a group of all else */
    std::span<const Mesh> meshes() const { return meshes_; }
    std::span<const Triangle> triangles() const { return triangles_; }
    std::span<const Material> materials() const { return materials_; }
    Frame &frame() const { return *frame_; }
    std::span<unsigned> pixels() const { return pixels_; } /* of the picture */
    std::size_t nodes() const;

private:
    void make_shapes();
    Node *make_node();
    void update_group(std::size_t group, const Things &things);
    std::pmr::memory_resource &memory_;
    std::span<Node> fixed_;
    std::span<Triangle> triangles_;
    std::span<Mesh> meshes_;
    std::span<Material> materials_;
    std::span<unsigned> pixels_;
    Frame *frame_;
    Node *root_;
    std::vector<Node *> groups_;
    std::vector<std::vector<Node *>> members_;
};

} // namespace ptsched::world

#endif /* SAMPLES_ARENA_WORLD_SCENE_HPP */
