// SPDX-License-Identifier: MIT
#include "samples/arena/world/things.hpp"

#include "samples/common/parts.hpp"

namespace ptsched::world {

namespace {

constexpr float seconds = 0.04F, gravity = 4, room = 40; /* the latter: how far from the middle one may go */

float random(unsigned number, float least, float most)
{
    number = (number ^ number >> 16) * 0x7feb352dU;
    number = (number ^ number >> 15) * 0x846ca68bU;
    return least + (most - least) * static_cast<float>((number ^ number >> 16) >> 8) / (1U << 24);
}

Thing thing(unsigned number)
{
    return {random(7 * number, 0, 6.28F),        random(7 * number + 1, -2, 2),      random(7 * number + 2, 0.5F, 3),
            random(7 * number + 3, -2.5F, 2.5F), random(7 * number + 4, 0.1F, 0.6F), number};
}

/* Away from a wall. */
void turn_back(float &place, float &velocity, float least, float most)
{
    if ((place < least && velocity < 0) || (place > most && velocity > 0))
        velocity = -velocity;
}

} // namespace

Things::Things(unsigned swarms, unsigned in_each) : swarms_(swarms)
{
    unsigned number = 1;
    for (unsigned i = 0; i < swarms; i++) {
        const unsigned first = 1000000 + 8 * i;
        swarms_[i].centre = {random(first, -room, room), random(first + 1, 5, 25), random(first + 2, -room, room)};
        swarms_[i].velocity = {random(first + 3, -5, 5), random(first + 4, -3, 3), random(first + 5, -5, 5)};
        swarms_[i].radius = 5;
        for (unsigned j = 0; j < in_each; j++)
            swarms_[i].things.push_back(thing(number++));
    }
}

void Things::move(Swarm &swarm)
{
    swarm.velocity.y -= seconds * gravity;
    swarm.centre = swarm.centre + seconds * swarm.velocity;
    turn_back(swarm.centre.x, swarm.velocity.x, -room, room);
    turn_back(swarm.centre.y, swarm.velocity.y, swarm.radius, 2 * room);
    turn_back(swarm.centre.z, swarm.velocity.z, -room, room);
    for (Thing &one : swarm.things)
        one.turn += seconds * one.speed;
}

/* Those that meet change their velocities. */
void Things::bounce()
{
    for (std::size_t i = 0; i < swarms_.size(); i++)
        for (std::size_t j = 0; j < i; j++) {
            const Vector way = swarms_[i].centre - swarms_[j].centre;
            const float square = dot(way, way), reach = swarms_[i].radius + swarms_[j].radius;
            const float closer = dot(way, swarms_[i].velocity - swarms_[j].velocity);
            if (square >= reach * reach || closer >= 0 || square <= 0)
                continue;
            const Vector change = closer / square * way;
            swarms_[i].velocity = swarms_[i].velocity - change;
            swarms_[j].velocity = swarms_[j].velocity + change;
        }
}

void Things::be_born_and_die()
{
    Swarm &swarm = swarms_[time_ % swarms_.size()];
    if (time_ % 3 && swarm.things.size() > 1)
        swarm.things.erase(swarm.things.begin() + time_ % static_cast<unsigned>(swarm.things.size()));
    else
        swarm.things.push_back(thing(2000000 + time_));
}

void Things::move()
{
    time_++;
    samples::in_parts(swarms_.size(), 16, [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; i++)
            move(swarms_[i]);
    });
    bounce();
    be_born_and_die();
}

Sphere sphere_of(const Swarm &swarm, const Thing &thing)
{
    const Vector by{thing.away * std::cos(thing.turn), thing.height, thing.away * std::sin(thing.turn)};
    return {swarm.centre + by, thing.size};
}

} // namespace ptsched::world
