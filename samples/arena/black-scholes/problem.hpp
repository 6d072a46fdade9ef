/* SPDX-License-Identifier: MIT */
/* A book of options: the GPU prices them, the host takes what they are worth to the market, which moves. */
#ifndef SAMPLES_ARENA_BLACK_SCHOLES_PROBLEM_HPP
#define SAMPLES_ARENA_BLACK_SCHOLES_PROBLEM_HPP

#include "samples/arena/black-scholes/market.h"
#include "samples/arena/common/resources.hpp"
#include "samples/arena/common/variants.hpp"

namespace ptsched::black_scholes {

struct Shape {
    unsigned options, days;
};

/* Where a variant has the data, as the host sees it. */
struct Book {
    Book(std::pmr::memory_resource &memory, Shape shape) : Book(memory, memory, memory, shape) {}
    Book(std::pmr::memory_resource &market_memory, std::pmr::memory_resource &memory,
         std::pmr::memory_resource &results, Shape shape);
    Market *market;
    std::span<float> strike, years;
    std::span<unsigned short> underlying;
    std::span<float> call, put; /* results */
    static std::size_t bytes(Shape shape);
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    void restore(const Book &book) const;
    /* What all are worth, in doubles. */
    double value_of(const Book &book) const;
    /* A day later, when they were worth so much. */
    void move(Market &market, unsigned day, double value) const;
    void check(const Book &book, const std::vector<double> &values);
    samples::Accesses accesses() const;

private:
    void compute();
    std::vector<float> strike_, years_;
    std::vector<unsigned short> underlying_;
    Market market_{};
    samples::Expected<float> call_{1e-5}, put_{1e-5};
    samples::Expected<double> values_{1e-6};
};

/* All but how data comes from one side to the other. */
class Pricing : public samples::Variant {
public:
    Pricing(Problem &problem, const std::string &module)
        : Variant(module), problem(problem), price_(gpu.module.find("price"))
    {
    }
    void restore() final
    {
        take_back();
        problem.restore(book());
        give_results();
    }
    void run() final;
    void check() final { problem.check(book(), values_); }

protected:
    virtual const Book &book() const = 0;
    /* Before the first day: all is on the host. */
    virtual void begin() = 0;
    /* From the host's market to results that the host may read. */
    virtual void price() = 0;
    /* The host is to have all of it, whatever that is. */
    virtual void take_back() {}
    /* Where results are to come is not data: the GPU may have it before the first day. */
    virtual void give_results() {}

    struct OnGpu {
        Market *market;
        float *strike, *years;
        unsigned short *underlying;
        float *call, *put;
    };
    void launch(const OnGpu &at, std::size_t first, std::size_t count) const;
    Problem &problem;

private:
    const CUfunction price_;
    std::vector<double> values_;
};

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing);

} // namespace ptsched::black_scholes

#endif /* SAMPLES_ARENA_BLACK_SCHOLES_PROBLEM_HPP */
