/* SPDX-License-Identifier: MIT */
/*
 * What the paper's programs compute, apart from how: steps, each a kernel, over values that are written once. From such
 * a description the executors (executor.hpp) make the variants that are compared.
 */
#ifndef PTSCHED_PAPER_WORKLOAD_HPP
#define PTSCHED_PAPER_WORKLOAD_HPP

#include <ptsched/device/device.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptsched::paper {

using device::Error;
using device::Geometry;

/* Elements of 4 bytes: integers, or floats with the same bits. */
using Content = std::vector<std::uint32_t>;
Content content_of(const std::vector<float> &values);
std::vector<float> floats_of(const Content &content);

using ValueId = std::size_t;

struct Value {
    std::size_t elements;
    std::vector<Content> contents; /* of an input, one for each set */
    std::size_t bytes() const { return elements * sizeof(std::uint32_t); }
    bool is_input() const { return !contents.empty(); }
};

/* A kernel's parameters are its inputs, its outputs and, if there is one, a structure by value, in that order. */
struct Step {
    std::string name, kernel;
    Geometry geometry;
    std::vector<ValueId> inputs, outputs;
    std::vector<std::byte> constant;
};

/* What the host does with the results. */
struct Finish {
    std::size_t elements;
    std::function<void(const std::vector<const std::uint32_t *> &results, std::uint32_t *out)> function;
};

struct Workload {
    std::string name;
    std::vector<Value> values;
    std::vector<Step> steps; /* each after those whose outputs it reads */
    std::vector<ValueId> results;
    std::optional<Finish> finish;
    /* Of the inputs: run after run, they take turns. */
    unsigned sets = 1;
    /* Inputs are on the device before the first run; results stay there. */
    bool inputs_stay = false, results_stay = false;
    bool resident() const { return inputs_stay && results_stay; }
    /* The results, or what the host makes of them, for each set; none where nothing is computed. */
    std::function<std::vector<Content>(unsigned set)> expected;
    /* Floats may differ by that much of the largest one; without it, bits count. */
    double tolerance = 0;

    ValueId input(Content content) { return inputs({std::move(content)}); }
    ValueId inputs(std::vector<Content> contents);
    ValueId step(const std::string &kernel, const Geometry &geometry, std::vector<ValueId> inputs, std::size_t elements,
                 std::vector<std::byte> constant = {});
};

template <typename T> std::vector<std::byte> constant_of(const T &value)
{
    std::vector<std::byte> bytes(sizeof(value));
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
}

/* A thread for each of @count elements. */
Geometry over(std::size_t count);
/* That many blocks of the threads that kernels rely on. */
Geometry blocks(std::size_t count);
/* 16 x 16 threads for so many elements in each direction. */
Geometry over_plane(std::size_t width, std::size_t height, unsigned for_each_block = 16);

/* Numbers that look random, the same each time. */
std::vector<float> noise(std::size_t count, unsigned seed, float low = -1, float high = 1);
Content integers(std::size_t count, unsigned seed);

/* What is wrong with @got, empty if nothing. */
std::string difference(const Workload &workload, const std::vector<Content> &expected, const std::vector<Content> &got);

/* For each step, which others must end before it, as one bit each. */
std::vector<std::vector<bool>> ancestors(const Workload &workload);
/* For each value the step that writes it, or none_writes. */
constexpr std::size_t none_writes = static_cast<std::size_t>(-1);
std::vector<std::size_t> writers(const Workload &workload);
/* For each value the steps that read it, in their order. */
std::vector<std::vector<std::size_t>> readers(const Workload &workload);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_WORKLOAD_HPP */
