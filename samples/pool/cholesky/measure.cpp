// SPDX-License-Identifier: MIT
#include "samples/pool/cholesky/measure.hpp"

#include "samples/common/hand.hpp"
#include "samples/pool/cholesky/hand.h"
#include "samples/pool/cholesky/matrix.hpp"
#include "samples/pool/cholesky/steps.h"
#include <ptsched/pool/ordered.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>

namespace ptsched::cholesky {

namespace {

using ::cholesky::for_each_step;
using ::cholesky::Kind;
using ::cholesky::Step;
using ::cholesky::usual_columns;
using samples::Report;
using samples::Settings;
using samples::Spread;
using samples::spread_of;

constexpr unsigned threads = 128, shared_bytes = 2 * 64 * 68 * sizeof(double); /* as in tile.cuh */
constexpr std::size_t threads_of_multiprocessor = 2048;

/* The longest chain of steps is that of factors, each with the next column's first tiles. */
constexpr unsigned priorities = 4;

unsigned priority_of(const Step &step)
{
    if (step.kind == Kind::factor)
        return 3;
    const unsigned next = step.k + unsigned{step.columns};
    if (step.kind == Kind::solve)
        return step.row == next ? 3 : 2;
    if (step.column == next)
        return step.row == next ? 3 : 2;
    return step.column <= next + 2 ? 1 : 0;
}

/* By a pool. */
class Ours {
public:
    Ours(device::Device &gpu, const Settings &settings, const Shape &shape)
        : pool_({
              .kernel = [&](device::Device &one) { return device::cuda_code(one, settings.module, "steps"); },
              .devices = {&gpu},
              .threads = threads,
              .shared_bytes = shared_bytes,
              .blocks = shape.blocks ? shape.blocks : 2 * multiprocessors(gpu),
              .depth = shape.depth,
              .priorities = priorities,
          })
    {
    }

    /* What depends on what is found out each time, too. */
    void factor(double *matrix, unsigned n, unsigned columns)
    {
        order_.clear();
        std::vector<std::size_t> last(std::size_t{n / ::cholesky::size} * (n / ::cholesky::size));
        for_each_step(matrix, n, columns, last.data(), [&](const Step &step, const std::size_t *after, unsigned count) {
            return order_.add(step, std::span(after, count), {.priority = priority_of(step)});
        });
        order_.run();
        for (unsigned i = 0; i < n / ::cholesky::size; i++)
            if (order_.result(last[i * (n / ::cholesky::size) + i]).failed)
                throw Error("the matrix is not positive definite, from row " + std::to_string(i * ::cholesky::size));
    }

private:
    static unsigned multiprocessors(device::Device &gpu)
    {
        const std::size_t all = gpu.most_threads().value_or(threads_of_multiprocessor);
        return static_cast<unsigned>(std::max<std::size_t>(1, all / threads_of_multiprocessor));
    }

    pool::Pool<Step> pool_;
    pool::Ordered<Step> order_{pool_};
};

class ByHand {
public:
    ByHand(const std::string &library, Matrix &matrix, unsigned columns)
        : hand_(library), run_(hand_.find<decltype(cholesky_hand_run)>("cholesky_hand_run"))
    {
        samples::check_hand(
            hand_.find<decltype(cholesky_hand_open)>("cholesky_hand_open")(matrix.address(), matrix.rows(), columns));
        const auto name = hand_.find<decltype(cholesky_hand_name)>("cholesky_hand_name");
        const auto way = hand_.find<decltype(cholesky_hand_way)>("cholesky_hand_way");
        const unsigned count = hand_.find<decltype(cholesky_hand_forms)>("cholesky_hand_forms")();
        for (unsigned i = 0; i < count; i++)
            forms_.push_back({name(i), way(i), {}});
    }
    ~ByHand() { hand_.find<decltype(cholesky_hand_close)>("cholesky_hand_close")(); }
    ByHand(const ByHand &) = delete;
    ByHand &operator=(const ByHand &) = delete;

    struct Form {
        std::string name;
        CholeskyWay way;
        std::vector<double> found; /* by rounds, in milliseconds */
    };
    std::vector<Form> &forms() { return forms_; }
    void run(unsigned form) const { samples::check_hand(run_(form)); }

    /* The fastest of those that go that way. */
    const Form &best(CholeskyWay way) const
    {
        const Form *best = nullptr;
        for (const Form &form : forms_)
            if (form.way == way && (!best || spread_of(form.found).median < spread_of(best->found).median))
                best = &form;
        if (!best)
            throw Error("nothing was done by hand that way");
        return *best;
    }

private:
    const samples::Hand hand_;
    decltype(cholesky_hand_run) *const run_;
    std::vector<Form> forms_;
};

/* Milliseconds that @run takes: the median of some times, after the first; the last one's result is checked. */
double median_ms(Matrix &matrix, const std::string &by, unsigned times, const std::function<void()> &run)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> found;
    for (unsigned i = 0; i <= times; i++) {
        matrix.restore();
        const auto begin = Clock::now();
        run();
        if (i)
            found.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    matrix.check(by);
    return samples::percentile(std::move(found), 0.5);
}

/* Of both by turns; the pool is off the device while others are measured. */
std::optional<double> measure(device::Device &gpu, const Shape &shape, unsigned n, const Settings &settings,
                              Report &report)
{
    const unsigned times = settings.quick ? 3 : 10, columns = shape.columns ? shape.columns : usual_columns(n);
    Matrix matrix(gpu, n);
    std::optional<ByHand> hand;
    if (!settings.hand.empty())
        hand.emplace(settings.hand, matrix, columns);
    std::vector<double> found;
    for (unsigned round = 0; round < settings.rounds(); round++) {
        {
            Ours ours(gpu, settings, shape);
            found.push_back(
                median_ms(matrix, "the pool", times, [&] { ours.factor(matrix.address(), matrix.rows(), columns); }));
        }
        for (unsigned i = 0; hand && i < hand->forms().size(); i++) {
            ByHand::Form &form = hand->forms()[i];
            form.found.push_back(median_ms(matrix, form.name, times, [&] { hand->run(i); }));
        }
    }
    const std::string name = "cholesky/" + std::to_string(n);
    report.record(name + "/ours_ms", spread_of(found), "ms",
                  "tiles of 64 x 64; updates by " + std::to_string(columns) + " at once");
    if (!hand)
        return {};
    const auto compare = [&](const std::string &as, CholeskyWay way) {
        const ByHand::Form &best = hand->best(way);
        std::vector<double> ratios;
        for (std::size_t i = 0; i < found.size(); i++)
            ratios.push_back(best.found[i] / found[i]);
        report.record(as + "_ms", spread_of(best.found), "ms", best.name);
        report.record(as, spread_of(ratios), "", best.name);
        return spread_of(ratios).median;
    };
    for (const ByHand::Form &form : hand->forms())
        std::printf("    %-40s %8.3f ms\n", form.name.c_str(), spread_of(form.found).median);
    compare(name + "/graph", CHOLESKY_GRAPH);
    compare(name + "/cusolver", CHOLESKY_CUSOLVER);
    return compare(name, CHOLESKY_LAUNCHES);
}

void check(device::Device &gpu, const Settings &settings)
{
    Matrix matrix(gpu, 5 * ::cholesky::size);
    Ours ours(gpu, settings, {.blocks = 3, .depth = 1});
    for (const unsigned columns : {1U, 2U, 3U}) {
        matrix.restore();
        ours.factor(matrix.address(), matrix.rows(), columns);
        matrix.check("the pool");
    }
}

} // namespace

void run(const Shape &shape, const Settings &settings, Report &report)
{
    device::Device &gpu = samples::first_gpu();
    if (settings.check) {
        check(gpu, settings);
        return;
    }
    if (shape.rows % ::cholesky::size)
        throw Error("--rows is " + std::to_string(shape.rows) + ", and must be a multiple of 64: say " +
                    std::to_string((shape.rows / ::cholesky::size + 1) * ::cholesky::size));
    std::optional<double> least;
    for (const unsigned rows : shape.rows ? std::vector{shape.rows} : std::vector{1024U, 2048U, 4096U}) {
        const auto ratio = measure(gpu, shape, rows, settings, report);
        if (ratio)
            least = least ? std::min(*least, *ratio) : ratio;
    }
    if (least)
        report.record("cholesky", *least, "", "the smallest of these: a launch for each step; the paper: above 1");
}

} // namespace ptsched::cholesky
