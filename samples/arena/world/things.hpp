/* SPDX-License-Identifier: MIT */
/* What is in the world, as the host alone knows it: swarms, which fall and bounce, of things that circle in them. */
#ifndef SAMPLES_ARENA_WORLD_THINGS_HPP
#define SAMPLES_ARENA_WORLD_THINGS_HPP

#include "samples/arena/world/rays.h"

#include <vector>

namespace ptsched::world {

struct Thing {
    float turn, speed, away, height, size; /* turn and speed: of its circle */
    unsigned kind;
};

struct Swarm {
    Vector centre, velocity;
    float radius; /* of all of it */
    std::vector<Thing> things;
};

class Things {
public:
    Things(unsigned swarms, unsigned in_each);
    /* A picture later; some things are born, and some are gone. */
    void move();
    const std::vector<Swarm> &swarms() const { return swarms_; }
    /* Where the eye is. */
    float turn() const { return 0.02F * static_cast<float>(time_); }

private:
    void move(Swarm &swarm);
    void bounce();
    void be_born_and_die();
    std::vector<Swarm> swarms_;
    unsigned time_ = 0;
};

Sphere sphere_of(const Swarm &swarm, const Thing &thing);

} // namespace ptsched::world

#endif /* SAMPLES_ARENA_WORLD_THINGS_HPP */
