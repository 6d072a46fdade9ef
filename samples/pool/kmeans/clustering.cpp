// SPDX-License-Identifier: MIT
#include "samples/pool/kmeans/clustering.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <string>

namespace ptsched::kmeans {

namespace {

constexpr Cluster nowhere = clusters;
constexpr int unit = 65536;

} // namespace

Clustering::Clustering(unsigned samples, unsigned dimensions)
    : dimensions_(dimensions), samples_(std::size_t{samples} * dimensions), nearest_(samples)
{
    std::mt19937 random(1);
    std::uniform_int_distribution<int> between(0, unit);
    for (float &value : samples_)
        value = static_cast<float>(between(random)) / unit;
    for (device::Allocation &memory : memory_)
        memory = device::Allocation::pinned(bytes_of_centres());
    restart();
}

const float *Clustering::restart()
{
    std::copy_n(samples_.begin(), std::size_t{clusters} * dimensions_, centres(current_));
    find_norms(centres(current_));
    std::fill(nearest_.begin(), nearest_.end(), nowhere);
    sums_.assign(std::size_t{clusters} * dimensions_, 0);
    members_.fill(0);
    return centres(current_);
}

void Clustering::update(unsigned first, unsigned count, const Cluster *nearest)
{
    for (unsigned i = 0; i < count; i++) {
        Cluster &belongs = nearest_[first + i];
        if (belongs == nearest[i])
            continue;
        if (belongs != nowhere)
            add(belongs, first + i, -1);
        add(nearest[i], first + i, 1);
        belongs = nearest[i];
    }
}

void Clustering::add(Cluster to, unsigned sample, double sign)
{
    const std::lock_guard lock(mutexes_[to]);
    const float *from = &samples_[std::size_t{sample} * dimensions_];
    double *sums = &sums_[std::size_t{to} * dimensions_];
    for (unsigned i = 0; i < dimensions_; i++)
        sums[i] += sign * static_cast<double>(from[i]);
    members_[to] += sign > 0 ? 1 : -1;
}

const float *Clustering::move()
{
    const float *before = centres(current_);
    current_ = 1 - current_;
    float *now = centres(current_);
    for (unsigned cluster = 0; cluster < clusters; cluster++) {
        const std::size_t at = std::size_t{cluster} * dimensions_;
        const double share = members_[cluster] ? 1.0 / members_[cluster] : 0;
        for (std::size_t i = at; i < at + dimensions_; i++)
            now[i] = members_[cluster] ? static_cast<float>(sums_[i] * share) : before[i];
    }
    find_norms(now);
    return now;
}

void Clustering::find_norms(float *centres) const
{
    for (unsigned cluster = 0; cluster < clusters; cluster++) {
        const float *centre = centres + std::size_t{cluster} * dimensions_;
        std::array<float, 8> parts{};
        for (unsigned i = 0; i < dimensions_; i += parts.size())
            for (unsigned part = 0; part < parts.size(); part++)
                parts[part] += centre[i + part] * centre[i + part];
        float norm = 0;
        for (const float part : parts)
            norm += part;
        centres[std::size_t{clusters} * dimensions_ + cluster] = norm;
    }
}

/* Its square. */
double Clustering::distance(unsigned sample, unsigned cluster) const
{
    const float *left = &samples_[std::size_t{sample} * dimensions_];
    const float *right = used() + std::size_t{cluster} * dimensions_;
    double sum = 0;
    for (unsigned i = 0; i < dimensions_; i++)
        sum += (static_cast<double>(left[i]) - right[i]) * (static_cast<double>(left[i]) - right[i]);
    return sum;
}

double Clustering::check(unsigned step, const char *by) const
{
    double sum = 0;
    unsigned looked_at = 0;
    for (unsigned sample = 0; sample < count(); sample += step, looked_at++) {
        double least = std::numeric_limits<double>::infinity();
        for (unsigned cluster = 0; cluster < clusters; cluster++)
            least = std::min(least, distance(sample, cluster));
        const Cluster belongs = nearest_[sample];
        if (belongs == nowhere || distance(sample, belongs) > least + 1e-4 * dimensions_)
            throw device::Error("kmeans: sample " + std::to_string(sample) + " does not belong to centre " +
                                std::to_string(belongs) + ", as was found by " + by);
        sum += distance(sample, belongs);
    }
    check_sums(by);
    return sum / looked_at;
}

void Clustering::check_sums(const char *by) const
{
    std::vector<double> sums(sums_.size());
    for (unsigned sample = 0; sample < count(); sample++)
        for (unsigned i = 0; i < dimensions_; i++)
            sums[std::size_t{nearest_[sample]} * dimensions_ + i] +=
                static_cast<double>(samples_[std::size_t{sample} * dimensions_ + i]);
    const auto [right, found] = std::mismatch(sums.begin(), sums.end(), sums_.begin());
    if (right != sums.end())
        throw device::Error("kmeans: a sum of the samples at a centre is " + std::to_string(*found) + " by " + by +
                            "; it should be " + std::to_string(*right));
}

} // namespace ptsched::kmeans
