/* SPDX-License-Identifier: MIT */
/* Variants of a program, which differ in how its data comes from one side to the other, and in nothing else. */
#ifndef SAMPLES_ARENA_COMMON_VARIANTS_HPP
#define SAMPLES_ARENA_COMMON_VARIANTS_HPP

#include "samples/arena/common/split.hpp"
#include "samples/common/ways.hpp"

#include <map>

namespace ptsched::samples {

/* The first GPU, the kernels of a file, and a stream. */
struct Gpu {
    explicit Gpu(const std::string &file) : module(file) {}
    const driver::Context context;
    const driver::Module module;
    const driver::Stream stream;
};

class Variant : public Way {
public:
    explicit Variant(const std::string &module) : gpu(module) {}
    Split split;
    /* What it has counted since it was made, by names with the unit behind them: "faults_ms". */
    virtual std::map<std::string, double> counts() const { return {}; }

protected:
    void end(Part part) { split.end(part, gpu.stream); }
    const Gpu gpu;
};

/* Of those by arenas: who owns them is said, or they are shared. */
enum class Handing { owned, shared };

struct NamedVariant {
    std::string name;
    std::function<std::unique_ptr<Variant>()> make;
};

/*
 * How often memory is accessed in a run, by the word of 4 bytes: that which both sides have, and that which only one
 * has, a thread block's included.
 */
struct Accesses {
    double common, own;
};

/* Of --memory: which variants there are beside that by hand. */
class Variants {
public:
    /* "--memory", whose value is here. */
    Choice choice();
    /* The first of @all, and those that were chosen. */
    std::vector<NamedVariant> chosen_of(const std::vector<NamedVariant> &all) const;

private:
    unsigned chosen_ = 4;
};

/*
 * Checks the variants of a problem of the shape @small, as @variants_of(problem) has them; and, unless that is all that
 * is asked for, measures those of one of the shape @large. Recorded are, of each: the time, @name/VARIANT_ms; how many
 * times that by hand it is, @name/VARIANT-over-hand; where the time goes if nothing overlaps, @name/VARIANT/PART_ms,
 * and what else it has counted; and lines of source, @name/VARIANT/lines, which @lines has: "hand:100 managed:20". By
 * hand, host and kernels alone are also what would be ideal: @name/ideal_ms.
 */
void check_variants(const Variants &variants, const std::vector<NamedVariant> &all);
void measure_variants(const Settings &settings, Report &report, const std::string &name, const std::string &lines,
                      const std::vector<NamedVariant> &chosen);
void record_accesses(Report &report, const std::string &name, const Accesses &accesses);

template <typename Problem, typename Shape, typename VariantsOf>
void check_and_measure_variants(const Settings &settings, Report &report, const Variants &variants,
                                const std::string &name, const std::string &lines, const Shape &small,
                                const Shape &large, const VariantsOf &variants_of)
{
    Problem few(small);
    check_variants(variants, variants_of(few));
    if (settings.check)
        return;
    Problem many(large);
    measure_variants(settings, report, name, lines, variants.chosen_of(variants_of(many)));
    record_accesses(report, name, many.accesses());
}

} // namespace ptsched::samples

#endif /* SAMPLES_ARENA_COMMON_VARIANTS_HPP */
