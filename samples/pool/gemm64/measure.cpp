// SPDX-License-Identifier: MIT
#include "samples/pool/gemm64/measure.hpp"

#include "samples/common/hand.hpp"
#include "samples/pool/gemm64/batch.hpp"
#include "samples/pool/gemm64/hand.h"
#include <ptsched/pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>

namespace ptsched::gemm64 {

namespace {

using Clock = std::chrono::steady_clock;
using samples::Report;
using samples::Settings;

constexpr unsigned count = 128; /* products */
constexpr unsigned group_threads = 128;
constexpr std::size_t tile_pitch = 68; /* as in tile.cuh */

/* Microseconds that each call of @run takes, which is called some times before. */
double median_us(unsigned times, const std::function<void()> &run)
{
    std::vector<double> found;
    for (unsigned i = 0; i < times + times / 10 + 1; i++) {
        const auto begin = Clock::now();
        run();
        if (i > times / 10)
            found.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    return samples::percentile(std::move(found), 0.5);
}

template <typename T> struct Names;
template <> struct Names<float> {
    static constexpr char kernel[] = "products_float", name[] = "float";
    static constexpr unsigned most_products = 4;
};
template <> struct Names<double> {
    static constexpr char kernel[] = "products_double", name[] = "double";
    static constexpr unsigned most_products = 2;
};

/* By a pool. */
template <typename T> class Ours {
public:
    Ours(device::Device &gpu, const Settings &settings, const Shape &shape, const Batch<T> &batch, unsigned products)
        : pool_({
              .kernel = [&](device::Device &one) { return device::cuda_code(one, settings.module, Names<T>::kernel); },
              .devices = {&gpu},
              .threads = shape.products * group_threads,
              .shared_bytes = static_cast<unsigned>(shape.products * 2 * size * tile_pitch * sizeof(T)),
              .blocks = shape.blocks ? shape.blocks : products / shape.products,
              .depth = shape.depth,
          })
    {
        const Product<T> first = batch.first();
        for (std::size_t i = 0; i < products; i += shape.products)
            tasks_.push_back({first.a + i * elements, first.b + i * elements, first.c + i * elements});
        results_.resize(tasks_.size());
    }

    void once()
    {
        pool_.push_all(std::span<const Product<T>>(tasks_));
        pop(1);
    }

    /* As many as there is room for are under way at once. */
    void many(unsigned times)
    {
        std::jthread pushes([&] {
            for (unsigned i = 0; i < times; i++)
                pool_.push_all(std::span<const Product<T>>(tasks_));
        });
        pop(times);
    }

private:
    void pop(unsigned times)
    {
        for (std::size_t left = tasks_.size() * times; left;)
            left -= pool_.pop_some(results_);
    }

    pool::Pool<Product<T>> pool_;
    std::vector<Product<T>> tasks_, results_;
};

/* By cuBLAS, in all its forms. */
class ByHand {
public:
    template <typename T>
    ByHand(const std::string &library, Batch<T> &batch)
        : hand_(library), run_(hand_.find<decltype(gemm64_hand_run)>("gemm64_hand_run"))
    {
        const Product<T> first = batch.first();
        const Gemm64Products all{first.a, first.b, first.c, count, sizeof(T) == sizeof(double)};
        samples::check_hand(hand_.find<decltype(gemm64_hand_open)>("gemm64_hand_open")(&all));
        const auto name = hand_.find<decltype(gemm64_hand_name)>("gemm64_hand_name");
        forms_.resize(hand_.find<decltype(gemm64_hand_forms)>("gemm64_hand_forms")());
        for (unsigned i = 0; i < forms_.size(); i++) {
            forms_[i].name = name(i);
            batch.forget();
            run(i, 1);
            batch.check(forms_[i].name);
        }
    }
    ~ByHand() { hand_.find<decltype(gemm64_hand_close)>("gemm64_hand_close")(); }
    ByHand(const ByHand &) = delete;
    ByHand &operator=(const ByHand &) = delete;

    /* One more time of each form, in microseconds. */
    void measure(unsigned repeats, unsigned times)
    {
        for (unsigned i = 0; i < forms_.size(); i++)
            forms_[i].found.push_back(median_us(repeats, [&] { run(i, times); }) / times);
    }

    struct Form {
        std::string name;
        std::vector<double> found;
    };
    /* Forgets what was measured. */
    Form take_best(const std::string &what)
    {
        std::printf("by hand, %s, us a batch:\n", what.c_str());
        const Form *best = nullptr;
        for (const Form &form : forms_) {
            std::printf("    %-40s %8.2f\n", form.name.c_str(), samples::spread_of(form.found).median);
            if (!best || samples::spread_of(form.found).median < samples::spread_of(best->found).median)
                best = &form;
        }
        const Form found = *best;
        for (Form &form : forms_)
            form.found.clear();
        return found;
    }

private:
    void run(unsigned form, unsigned times) const { samples::check_hand(run_(form, times)); }

    const samples::Hand hand_;
    decltype(gemm64_hand_run) *const run_;
    std::vector<Form> forms_;
};

/* Rounds of both by turns. Returns the ratios, if there is something to compare with. */
template <typename T> class Comparison {
public:
    Comparison(device::Device &gpu, const Shape &shape, const Settings &settings, Report &report)
        : gpu_(gpu), shape_(shape), settings_(settings), report_(report), batch_(gpu, count)
    {
        if (!settings.hand.empty())
            hand_.emplace(settings.hand, batch_);
    }

    /* @times batches under way at once; the ratio's median, or nothing. */
    std::optional<double> run(const std::string &name, unsigned repeats, unsigned times)
    {
        std::vector<double> ours, ratios;
        for (unsigned round = 0; round < settings_.rounds(); round++) {
            ours.push_back(round_of_ours(repeats, times));
            if (hand_)
                hand_->measure(repeats, times);
        }
        const std::string form = std::to_string(count) + " products, " + std::to_string(shape_.products) + " in a task";
        report_.record(name + "/ours_us", samples::spread_of(ours), "us a batch", form);
        if (!hand_)
            return {};
        const ByHand::Form best = hand_->take_best(name);
        report_.record(name + "/by-hand_us", samples::spread_of(best.found), "us a batch", best.name);
        for (std::size_t i = 0; i < ours.size(); i++)
            ratios.push_back(best.found[i] / ours[i]);
        report_.record(name, samples::spread_of(ratios), "", "cuBLAS, " + best.name + "; the paper: above 1");
        return samples::spread_of(ratios).median;
    }

private:
    /* The pool is off the device while others are measured. */
    double round_of_ours(unsigned repeats, unsigned times)
    {
        batch_.forget();
        Ours<T> ours(gpu_, settings_, shape_, batch_, count);
        const double found = median_us(repeats, [&] { times == 1 ? ours.once() : ours.many(times); }) / times;
        batch_.check("the pool");
        return found;
    }

    device::Device &gpu_;
    const Shape shape_;
    const Settings &settings_;
    Report &report_;
    Batch<T> batch_;
    std::optional<ByHand> hand_;
};

template <typename T> void check(device::Device &gpu, const Settings &settings)
{
    constexpr unsigned few = 4;
    for (const unsigned products : {1U, sizeof(T) == sizeof(float) ? 2U : 1U}) {
        Batch<T> batch(gpu, few);
        batch.forget();
        Ours<T> ours(gpu, settings, {.blocks = 2, .depth = 2, .products = products}, batch, few);
        ours.once();
        batch.check("the pool");
        batch.forget();
        ours.many(3);
        batch.check("the pool");
    }
}

template <typename T>
std::optional<double> measure(device::Device &gpu, const Shape &shape, const Settings &settings, Report &report)
{
    Shape fit = shape;
    fit.products = std::min(fit.products, Names<T>::most_products);
    Comparison<T> comparison(gpu, fit, settings, report);
    const std::string_view kind = Names<T>::name;
    const auto ratio = comparison.run("gemm64-batched/" + std::string(kind), settings.quick ? 50 : 500, 1);
    comparison.run("gemm64-batched/" + std::string(kind) + "/throughput", settings.quick ? 3 : 10, 50);
    return ratio;
}

} // namespace

void run(const Shape &shape, const Settings &settings, Report &report)
{
    device::Device &gpu = samples::first_gpu();
    if (settings.check) {
        check<float>(gpu, settings);
        check<double>(gpu, settings);
        return;
    }
    if (shape.products != 1 && shape.products != 2 && shape.products != 4)
        throw Error("--products is " + std::to_string(shape.products) + ", and can be 1, 2 or 4");
    const auto floats = measure<float>(gpu, shape, settings, report);
    const auto doubles = measure<double>(gpu, shape, settings, report);
    if (floats && doubles)
        report.record("gemm64-batched", std::min(*floats, *doubles), "", "the smaller of both precisions");
}

} // namespace ptsched::gemm64
