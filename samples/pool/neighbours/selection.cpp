// SPDX-License-Identifier: MIT
#include "samples/pool/neighbours/selection.hpp"

#include <ptsched/device/device.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace ptsched::neighbours {

namespace {

constexpr unsigned nobody = ~0u;
/* Distances that are compared at once. */
constexpr unsigned at_once = 16;

} // namespace

Selection::Selection(const std::vector<float> &samples, unsigned dimensions, unsigned wanted)
    : samples_(samples), dimensions_(dimensions), wanted_(wanted)
{
    for (std::size_t at = 0; at < samples.size(); at += dimensions) {
        double sum = 0;
        for (unsigned i = 0; i < dimensions; i++)
            sum += static_cast<double>(samples[at + i]) * samples[at + i];
        norms_.push_back(static_cast<float>(sum));
    }
    clear();
}

void Selection::clear()
{
    found_.assign(norms_.size() * wanted_, {std::numeric_limits<float>::infinity(), nobody});
}

void Selection::select(unsigned first, unsigned rows, const float *products)
{
    for (unsigned row = 0; row < rows; row++)
        select_for(&found_[static_cast<std::size_t>(first + row) * wanted_], products + row * norms_.size());
}

/* A heap whose first is the farthest. Most samples are farther still, which is seen of many at once. */
void Selection::select_for(Neighbour *nearest, const float *products) const
{
    for (unsigned begin = 0; begin < norms_.size(); begin += at_once) {
        float distances[at_once];
        unsigned nearer = 0;
        for (unsigned i = 0; i < at_once; i++)
            distances[i] = norms_[begin + i] - 2 * products[begin + i];
        for (unsigned i = 0; i < at_once; i++)
            nearer |= distances[i] < nearest->distance;
        for (unsigned i = 0; i < at_once && nearer; i++) {
            if (!(distances[i] < nearest->distance))
                continue;
            std::pop_heap(nearest, nearest + wanted_);
            nearest[wanted_ - 1] = {distances[i], begin + i};
            std::push_heap(nearest, nearest + wanted_);
        }
    }
}

double Selection::distance(unsigned a, unsigned b) const
{
    const float *left = &samples_[static_cast<std::size_t>(a) * dimensions_];
    const float *right = &samples_[static_cast<std::size_t>(b) * dimensions_];
    double sum = 0;
    for (unsigned i = 0; i < dimensions_; i++)
        sum += (static_cast<double>(left[i]) - right[i]) * (static_cast<double>(left[i]) - right[i]);
    return sum;
}

void Selection::check(unsigned step, const char *by) const
{
    for (unsigned sample = 0; sample < norms_.size(); sample += step) {
        std::vector<double> all;
        for (unsigned other = 0; other < norms_.size(); other++)
            all.push_back(distance(sample, other));
        std::nth_element(all.begin(), all.begin() + (wanted_ - 1), all.end());
        const double farthest = all[wanted_ - 1] + 1e-3 * norms_[sample];
        std::set<unsigned> different;
        for (unsigned i = 0; i < wanted_; i++) {
            const unsigned found = found_[static_cast<std::size_t>(sample) * wanted_ + i].sample;
            if (found == nobody || !different.insert(found).second || distance(sample, found) > farthest)
                throw device::Error("neighbours: sample " + std::to_string(found) + " is not one of the " +
                                    std::to_string(wanted_) + " nearest to " + std::to_string(sample) +
                                    ", as was found by " + by);
        }
    }
}

} // namespace ptsched::neighbours
