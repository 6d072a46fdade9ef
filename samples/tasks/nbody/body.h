/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_TASKS_NBODY_BODY_H
#define SAMPLES_TASKS_NBODY_BODY_H

namespace ptsched::nbody {

/* A position with a mass; a velocity, or an acceleration, with nothing. */
struct alignas(16) Vector {
    float x, y, z, mass;
};

/* Added to squares of distances, so that bodies may meet. */
constexpr float softening = 0.01F;
constexpr float seconds = 0.01F;      /* of a step */
constexpr unsigned int threads = 128; /* of a thread block, which has as many bodies at once in shared memory */

} // namespace ptsched::nbody

#endif /* SAMPLES_TASKS_NBODY_BODY_H */
