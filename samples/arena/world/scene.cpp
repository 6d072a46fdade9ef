// SPDX-License-Identifier: MIT
#include "samples/arena/world/scene.hpp"

namespace ptsched::world {

namespace {

constexpr unsigned octahedron = 8, plate = 2; /* triangles */
constexpr float ground = 200;

template <typename T> void give_back(std::pmr::memory_resource &memory, std::span<T> things)
{
    memory.deallocate(things.data(), things.size_bytes(), samples::page);
}

} // namespace

Scene::Scene(std::pmr::memory_resource &memory, unsigned width, unsigned height)
    : memory_(memory), fixed_(samples::array_of<Node>(memory, 2)),
      triangles_(samples::array_of<Triangle>(memory, octahedron + plate)), meshes_(samples::array_of<Mesh>(memory, 2)),
      materials_(samples::array_of<Material>(memory, 8)),
      pixels_(samples::array_of<unsigned>(memory, std::size_t{width} * height)),
      frame_(samples::array_of<Frame>(memory, 1).data()), root_(fixed_.data())
{
    frame_->width = width;
    frame_->height = height;
    make_shapes();
}

Scene::~Scene()
{
    for (const std::vector<Node *> &members : members_)
        for (Node *const one : members)
            memory_.deallocate(one, sizeof(Node), alignof(Node));
    for (Node *const one : groups_)
        memory_.deallocate(one, sizeof(Node), alignof(Node));
    give_back(memory_, fixed_);
    give_back(memory_, triangles_);
    give_back(memory_, meshes_);
    give_back(memory_, materials_);
    give_back(memory_, pixels_);
    give_back(memory_, std::span(frame_, 1));
}

void Scene::make_shapes()
{
    const Vector tips[] = {{1, 0, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 0, -1}};
    for (unsigned i = 0; i < octahedron; i++) {
        const Vector pole{0, i < octahedron / 2 ? 1.0F : -1.0F, 0};
        triangles_[i] = {{pole, tips[i % 4], tips[(i + 1) % 4]}};
    }
    triangles_[octahedron] = {{tips[0], tips[1], tips[2]}};
    triangles_[octahedron + 1] = {{tips[2], tips[3], tips[0]}};
    meshes_[0] = {&triangles_[0], octahedron};
    meshes_[1] = {&triangles_[octahedron], plate};
    for (unsigned i = 0; i < materials_.size(); i++)
        materials_[i] = {{0.3F + 0.7F * static_cast<float>(i & 1), 0.3F + 0.35F * static_cast<float>(i >> 1 & 1),
                          0.2F + 0.8F * static_cast<float>(i >> 2 & 1)},
                         i % 3 == 2 ? 0.6F : 0};
    fixed_[0] = {{{0, 0, 0}, ground}, nullptr, &fixed_[1], &meshes_[1], &materials_[1]};
    fixed_[1] = {{{0, 0, 0}, ground}, nullptr, nullptr, nullptr, nullptr};
}

Node *Scene::make_node()
{
    return new (memory_.allocate(sizeof(Node), alignof(Node))) Node{};
}

std::size_t Scene::nodes() const
{
    std::size_t count = fixed_.size() + groups_.size();
    for (const std::vector<Node *> &members : members_)
        count += members.size();
    return count;
}

void Scene::update_group(std::size_t group, const Things &things)
{
    const Swarm &swarm = things.swarms()[group];
    std::vector<Node *> &members = members_[group];
    for (; members.size() > swarm.things.size(); members.pop_back())
        memory_.deallocate(members.back(), sizeof(Node), alignof(Node));
    while (members.size() < swarm.things.size())
        members.push_back(make_node());
    const Node *const after = group + 1 < groups_.size() ? groups_[group + 1] : nullptr;
    *groups_[group] = {{swarm.centre, swarm.radius}, members.front(), after, nullptr, nullptr};
    for (std::size_t i = 0; i < members.size(); i++) {
        const Thing &thing = swarm.things[i];
        *members[i] = {sphere_of(swarm, thing), nullptr, i + 1 < members.size() ? members[i + 1] : after,
                       thing.kind % 4 ? nullptr : &meshes_[0], &materials_[thing.kind % materials_.size()]};
    }
}

void Scene::update(const Things &things, float exposure)
{
    while (groups_.size() < things.swarms().size()) {
        groups_.push_back(make_node());
        members_.emplace_back();
    }
    for (std::size_t group = 0; group < groups_.size(); group++)
        update_group(group, things);
    fixed_[1].inside = groups_.front();

    const float turn = things.turn();
    const Vector eye{45 * std::cos(turn), 18, 45 * std::sin(turn)}, ahead = unit(Vector{0, 8, 0} - eye);
    const Vector right = unit(cross(ahead, {0, 1, 0}));
    *frame_ = {eye, ahead, right, cross(right, ahead), {30, 80, 20}, exposure, frame_->width, frame_->height};
}

} // namespace ptsched::world
