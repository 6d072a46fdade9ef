/* SPDX-License-Identifier: MIT */
/*
 * A signal of which samples are missing, and of which few frequencies are known to matter: the GPU transforms it, the
 * host weakens what is weak in the spectrum, the GPU transforms it back and puts in what was measured; again and again.
 */
#ifndef SAMPLES_ARENA_FFT_PROBLEM_HPP
#define SAMPLES_ARENA_FFT_PROBLEM_HPP

#include "samples/arena/common/resources.hpp"
#include "samples/arena/common/variants.hpp"
#include "samples/arena/fft/sample.h"

namespace ptsched::fft {

struct Shape {
    unsigned log2, iterations; /* the former is even, so that passes between two arrays end where they began */
    unsigned count() const { return 1U << log2; }
};

/* Where a variant has the data, as the host sees it. */
struct Data {
    Data(std::pmr::memory_resource &memory, Shape shape) : Data(memory, memory, shape) {}
    /* What was measured can be in another memory. */
    Data(std::pmr::memory_resource &memory, std::pmr::memory_resource &other, Shape shape)
        : signal(samples::array_of<Sample>(memory, shape.count())),
          measured(samples::array_of<Sample>(other, shape.count()))
    {
    }
    std::span<Sample> signal, measured;
    static std::size_t bytes(Shape shape) { return 2 * (shape.count() * sizeof(Sample) + 4096); }
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    void restore(const Data &data) const;
    /* What the host does with the spectrum. */
    void weaken(std::span<Sample> spectrum, unsigned iteration) const;
    void check(const Data &data);
    samples::Accesses accesses() const;

private:
    void compute();
    std::vector<Sample> measured_;
    samples::Expected<float> signal_{1e-4};
};

/* All but how data comes from one side to the other. */
class Recovery : public samples::Variant {
public:
    Recovery(Problem &problem, const std::string &module)
        : Variant(module), problem(problem), pass_(gpu.module.find("pass")), blend_(gpu.module.find("blend")),
          scratch_(problem.shape.count())
    {
    }
    void restore() final
    {
        take_back();
        problem.restore(data());
    }
    void run() final;
    void check() final { problem.check(data()); }

protected:
    virtual const Data &data() const = 0;
    /* The signal is on the host. */
    virtual void begin() = 0;
    /* Of the signal, which the GPU has, a spectrum that the host may change. */
    virtual void transform() = 0;
    /* The signal of that, on the GPU. */
    virtual void transform_back() = 0;
    /* The signal is to be on the host. */
    virtual void finish() = 0;
    /* The host is to have all of it, whatever that is. */
    virtual void take_back() {}

    void launch_transform(Sample *signal) const { launch_passes(signal, -1); }
    void launch_transform_back(Sample *signal, const Sample *measured) const;
    Problem &problem;

private:
    void launch_passes(Sample *signal, float direction) const;
    const CUfunction pass_, blend_;
    const samples::driver::Memory<Sample> scratch_;
};

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing);

} // namespace ptsched::fft

#endif /* SAMPLES_ARENA_FFT_PROBLEM_HPP */
