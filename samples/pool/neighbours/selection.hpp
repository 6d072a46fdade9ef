/* SPDX-License-Identifier: MIT */
/* The host's part: which samples are nearest, by their products and what is known of each alone. */
#ifndef SAMPLES_POOL_NEIGHBOURS_SELECTION_HPP
#define SAMPLES_POOL_NEIGHBOURS_SELECTION_HPP

#include <vector>

namespace ptsched::neighbours {

struct Neighbour {
    float distance; /* its square, but for what is the same for all neighbours of a sample */
    unsigned sample;
    bool operator<(const Neighbour &other) const { return distance < other.distance; }
};

class Selection {
public:
    /*
     * Of @samples one after another, of so many dimensions, which stay; @wanted are sought for each, itself included.
     */
    Selection(const std::vector<float> &samples, unsigned dimensions, unsigned wanted);

    /* For @rows samples from @first on; @products with all, row by row. Thread-safe for different samples. */
    void select(unsigned first, unsigned rows, const float *products);
    void clear();
    /* Compares one sample of @step with all others. Throws device::Error if others are nearer than those found. */
    void check(unsigned step, const char *by) const;

private:
    void select_for(Neighbour *nearest, const float *products) const;
    double distance(unsigned a, unsigned b) const;

    const std::vector<float> &samples_;
    const unsigned dimensions_, wanted_;
    std::vector<float> norms_; /* their squares */
    std::vector<Neighbour> found_;
};

} // namespace ptsched::neighbours

#endif /* SAMPLES_POOL_NEIGHBOURS_SELECTION_HPP */
