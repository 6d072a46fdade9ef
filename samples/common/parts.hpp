/* SPDX-License-Identifier: MIT */
/* What the host does with gigabytes before and after what is measured: by all of its threads. */
#ifndef SAMPLES_COMMON_PARTS_HPP
#define SAMPLES_COMMON_PARTS_HPP

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

namespace ptsched::samples {

/* Calls @function(first, count) for parts of @all, of which each has @part but the last: some at once, in any order. */
template <typename Function> void in_parts(std::size_t all, std::size_t part, const Function &function)
{
    const std::size_t parts = (all + part - 1) / part;
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < parts;)
            function(i * part, std::min(part, all - i * part));
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(parts, std::thread::hardware_concurrency()); i++)
        others.emplace_back(work);
    work();
}

constexpr std::size_t part_elements = std::size_t{1} << 20;

template <typename T> void copy_all(const std::vector<T> &from, T *to)
{
    in_parts(from.size(), part_elements,
             [&](std::size_t first, std::size_t count) { std::copy_n(&from[first], count, to + first); });
}

/* With numbers from -1 to 1, which are the same each time. */
template <typename T> void fill_at_random(std::vector<T> &values, unsigned seed)
{
    in_parts(values.size(), part_elements, [&](std::size_t first, std::size_t count) {
        std::minstd_rand source(seed + 1 + static_cast<unsigned>(first / part_elements) * 16);
        std::uniform_real_distribution<T> all(-1, 1);
        source.discard(16); /* the first ones of neighbouring seeds are alike */
        std::generate_n(&values[first], count, [&] { return all(source); });
    });
}

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_PARTS_HPP */
