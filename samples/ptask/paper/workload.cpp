// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/workload.hpp"

#include "samples/ptask/paper/parameters.h"

#include <algorithm>
#include <cmath>

namespace ptsched::paper {

namespace {

std::string different_floats(const std::vector<float> &expected, const std::vector<float> &got, double tolerance)
{
    float largest = 0;
    for (float value : expected)
        largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < expected.size(); i++)
        if (!(std::abs(expected[i] - got[i]) <= tolerance * largest))
            return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
                   std::to_string(expected[i]);
    return {};
}

std::string different_bits(const Content &expected, const Content &got)
{
    auto [e, g] = std::mismatch(expected.begin(), expected.end(), got.begin());
    if (e == expected.end())
        return {};
    return "element " + std::to_string(e - expected.begin()) + " is " + std::to_string(*g) + ", not " +
           std::to_string(*e);
}

} // namespace

Content content_of(const std::vector<float> &values)
{
    Content content(values.size());
    std::memcpy(content.data(), values.data(), values.size() * sizeof(float));
    return content;
}

std::vector<float> floats_of(const Content &content)
{
    std::vector<float> values(content.size());
    std::memcpy(values.data(), content.data(), values.size() * sizeof(float));
    return values;
}

ValueId Workload::inputs(std::vector<Content> contents)
{
    std::size_t elements = contents.at(0).size();
    values.push_back({elements, std::move(contents)});
    return values.size() - 1;
}

ValueId Workload::step(const std::string &kernel, const Geometry &geometry, std::vector<ValueId> inputs,
                       std::size_t elements, std::vector<std::byte> constant)
{
    ValueId output = values.size();
    values.push_back({elements, {}});
    steps.push_back(
        {kernel + std::to_string(steps.size()), kernel, geometry, std::move(inputs), {output}, std::move(constant)});
    return output;
}

Geometry over(std::size_t count)
{
    return blocks((count + PAPER_THREADS - 1) / PAPER_THREADS);
}

Geometry blocks(std::size_t count)
{
    return {{static_cast<unsigned>(count), 1, 1}, {PAPER_THREADS, 1, 1}};
}

Geometry over_plane(std::size_t width, std::size_t height, unsigned for_each_block)
{
    auto count = [=](std::size_t elements) {
        return static_cast<unsigned>((elements + for_each_block - 1) / for_each_block);
    };
    return {{count(width), count(height), 1}, {16, 16, 1}};
}

std::vector<float> noise(std::size_t count, unsigned seed, float low, float high)
{
    std::vector<float> values;
    values.reserve(count);
    for (std::uint32_t number : integers(count, seed))
        values.push_back(low + (high - low) * static_cast<float>(number >> 8) / static_cast<float>(1u << 24));
    return values;
}

Content integers(std::size_t count, unsigned seed)
{
    Content values(count);
    std::uint32_t state = seed * 2654435769u + 1;
    for (std::uint32_t &value : values) {
        state = state * 1664525u + 1013904223u;
        value = state ^ state >> 15;
    }
    return values;
}

std::string difference(const Workload &workload, const std::vector<Content> &expected, const std::vector<Content> &got)
{
    if (expected.size() != got.size())
        return std::to_string(got.size()) + " results, not " + std::to_string(expected.size());
    for (std::size_t i = 0; i < expected.size(); i++) {
        std::string problem;
        if (expected[i].size() != got[i].size())
            problem = std::to_string(got[i].size()) + " elements, not " + std::to_string(expected[i].size());
        else if (workload.tolerance > 0)
            problem = different_floats(floats_of(expected[i]), floats_of(got[i]), workload.tolerance);
        else
            problem = different_bits(expected[i], got[i]);
        if (!problem.empty())
            return "result " + std::to_string(i) + ": " + problem;
    }
    return {};
}

std::vector<std::size_t> writers(const Workload &workload)
{
    std::vector<std::size_t> found(workload.values.size(), none_writes);
    for (std::size_t step = 0; step < workload.steps.size(); step++)
        for (ValueId value : workload.steps[step].outputs)
            found[value] = step;
    return found;
}

std::vector<std::vector<std::size_t>> readers(const Workload &workload)
{
    std::vector<std::vector<std::size_t>> found(workload.values.size());
    for (std::size_t step = 0; step < workload.steps.size(); step++)
        for (ValueId value : workload.steps[step].inputs)
            if (found[value].empty() || found[value].back() != step)
                found[value].push_back(step);
    return found;
}

std::vector<std::vector<bool>> ancestors(const Workload &workload)
{
    auto writer = writers(workload);
    std::vector<std::vector<bool>> before(workload.steps.size());
    for (std::size_t step = 0; step < workload.steps.size(); step++) {
        before[step].resize(workload.steps.size());
        for (ValueId value : workload.steps[step].inputs) {
            std::size_t from = writer[value];
            if (from == none_writes)
                continue;
            before[step][from] = true;
            for (std::size_t i = 0; i < from; i++)
                if (before[from][i])
                    before[step][i] = true;
        }
    }
    return before;
}

} // namespace ptsched::paper
