/* SPDX-License-Identifier: MIT */
/*
 * Recognition by adaptive resonance: the GPU looks at all windows of an image, the host learns from what it has found,
 * and has the next image.
 */
#ifndef SAMPLES_ARENA_ART_PROBLEM_HPP
#define SAMPLES_ARENA_ART_PROBLEM_HPP

#include "samples/arena/art/neurons.h"
#include "samples/arena/common/resources.hpp"
#include "samples/arena/common/variants.hpp"

#include <array>
#include <list>

namespace ptsched::art {

struct Shape {
    Scan scan;
    unsigned objects, images; /* the former: in an image */
    unsigned pixels() const { return scan.width * scan.height; }
    unsigned columns() const { return (scan.width - side) / scan.stride + 1; }
    unsigned windows() const { return columns() * ((scan.height - side) / scan.stride + 1); }
    std::size_t offset(unsigned window) const
    {
        return (window / columns() * std::size_t{scan.width} + window % columns()) * scan.stride;
    }
};

using Pattern = std::array<float, neurons>;

/* Where a variant has the data, as the host sees it. */
struct Data {
    /* What GPUs find can be in another memory than what the host makes. */
    Data(std::pmr::memory_resource &memory, std::pmr::memory_resource &found, Shape shape)
        : image(samples::array_of<float>(memory, shape.pixels())),
          matches(samples::array_of<Match>(found, shape.windows())), memory(&memory)
    {
    }
    static std::size_t bytes_to_gpu(Shape shape)
    {
        return shape.pixels() * sizeof(float) + most_categories * sizeof(Category) + 2 * 4096;
    }
    static std::size_t bytes_found(Shape shape) { return shape.windows() * sizeof(Match) + 4096; }
    std::span<float> image;
    std::span<Match> matches;
    Category *first = nullptr;         /* of a list */
    std::pmr::memory_resource *memory; /* for more categories */
    std::vector<Category *> forgotten; /* those that were in the list before */
};

/* What the host has found in an image. */
struct Found {
    double resonance = 0; /* of the best window of any category */
    unsigned window = 0, category = most_categories, categories = 0;
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    /* With what was learnt before, and the first image. */
    void restore(Data &data) const;
    /* From what the GPU has found in an image to what comes next. */
    Found learn(Data &data, unsigned image) const;
    void draw(std::span<float> pixels, unsigned image) const;
    void check(const Data &data, const std::vector<Found> &found);
    samples::Accesses accesses() const;

private:
    void compute();
    samples::Expected<float> resonance_{1e-4};
    samples::Expected<double> found_{1e-4};
};

/* All but how data comes from one side to the other. */
class Recognition : public samples::Variant {
public:
    Recognition(Problem &problem, const std::string &module) : Variant(module), problem(problem) {}
    void restore() final { problem.restore(data()); }
    void run() final;
    void check() final { problem.check(data(), found_); }

protected:
    virtual Data &data() = 0;
    /* From the host's image and categories to matches that the host may read. */
    virtual void scan() = 0;

    /* @categories: as the kernel has them. */
    template <typename Categories>
    void launch(CUfunction kernel, const Categories &categories, const float *image, Match *matches) const
    {
        const unsigned blocks = (problem.shape.windows() * lanes + threads - 1) / threads;
        samples::driver::launch(kernel, gpu.stream, {blocks}, {threads}, categories, image, problem.shape.scan,
                                matches);
    }
    Problem &problem;

private:
    std::vector<Found> found_;
};

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing);

} // namespace ptsched::art

#endif /* SAMPLES_ARENA_ART_PROBLEM_HPP */
