/* SPDX-License-Identifier: MIT */
/* Adaptive resonance (Carpenter and Grossberg's ART 2): what both sides know of it. */
#ifndef SAMPLES_ARENA_ART_NEURONS_H
#define SAMPLES_ARENA_ART_NEURONS_H

namespace ptsched::art {

constexpr unsigned int side = 16, neurons = side * side; /* of a window, a neuron of the first layer for each pixel */
constexpr unsigned int most_categories = 64;             /* neurons of the second layer */
constexpr unsigned int settling = 4;                     /* rounds of the first layer */
constexpr unsigned int threads = 256, lanes = 32;        /* threads of a thread block, and for each window */

/* The model's constants, by its names: a and b feed back, c and d are of the second layer, what is less is noise. */
constexpr float a = 10, b = 10, c = 0.1F, d = 0.9F, noise = 0.06F;
constexpr float vigilance = 0.96F;

struct Weights {
    float up[neurons], down[neurons];
};

/* What the host has learnt, as a list. */
struct Category {
    Weights weights;
    Category *next;
};

struct Match {
    float resonance, energy; /* the largest that was found; of the window itself */
    unsigned int category;   /* by its place in the list; most_categories: none resonates */
};

/* Windows begin at every so many pixels. */
struct Scan {
    unsigned int width, height, stride;
};

/* What is made of the list by hand. */
struct Flat {
    const Weights *weights;
    unsigned int count;
};

} // namespace ptsched::art

#endif /* SAMPLES_ARENA_ART_NEURONS_H */
