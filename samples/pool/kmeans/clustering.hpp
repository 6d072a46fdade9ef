/* SPDX-License-Identifier: MIT */
/* The host's part: where samples belong, and the centres that follow from that. */
#ifndef SAMPLES_POOL_KMEANS_CLUSTERING_HPP
#define SAMPLES_POOL_KMEANS_CLUSTERING_HPP

#include "samples/pool/kmeans/problem.h"
#include <ptsched/device/allocation.hpp>

#include <array>
#include <mutex>
#include <vector>

namespace ptsched::kmeans {

/* Of samples of the values 1/65536, 2/65536 ...: sums of them are exact, and the same in whatever order. */
class Clustering {
public:
    Clustering(unsigned samples, unsigned dimensions);

    const std::vector<float> &samples() const { return samples_; }
    unsigned count() const { return static_cast<unsigned>(nearest_.size()); }
    unsigned dimensions() const { return dimensions_; }
    /* Of all centres, with their norms. */
    std::size_t bytes_of_centres() const { return (std::size_t{dimensions_} + 1) * clusters * sizeof(float); }
    /* The first samples are the centres, and nothing belongs to them. Returns them, with their norms behind. */
    const float *restart();
    /* @count samples from @first on belong there. Thread-safe for different samples. */
    void update(unsigned first, unsigned count, const Cluster *nearest);
    /* The centres of what belongs to them, in page-locked memory; those from before stay until the next call. */
    const float *move();
    /* With which samples were compared last. */
    float *used() const { return centres(1 - current_); }
    /*
     * After move(). Throws device::Error if one sample of @step is nearer to another centre than to its own, or the
     * centres are not in the middle. Returns how far samples are from their centres, on average.
     */
    double check(unsigned step, const char *by) const;

private:
    float *centres(unsigned which) const { return static_cast<float *>(memory_[which].host_address()); }
    void add(Cluster to, unsigned sample, double sign);
    void find_norms(float *centres) const;
    double distance(unsigned sample, unsigned cluster) const;
    void check_sums(const char *by) const;

    const unsigned dimensions_;
    std::vector<float> samples_;
    std::vector<Cluster> nearest_;
    std::vector<double> sums_; /* of each cluster's samples */
    std::array<unsigned, clusters> members_{};
    std::array<std::mutex, clusters> mutexes_; /* for sums and members */
    std::array<device::Allocation, 2> memory_; /* centres and norms, by turns */
    unsigned current_ = 0;
};

} // namespace ptsched::kmeans

#endif /* SAMPLES_POOL_KMEANS_CLUSTERING_HPP */
