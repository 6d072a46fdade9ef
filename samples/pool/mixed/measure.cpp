// SPDX-License-Identifier: MIT
#include "samples/pool/mixed/measure.hpp"

#include "samples/common/hand.hpp"
#include "samples/pool/mixed/data.hpp"
#include "samples/pool/mixed/hand.h"
#include <ptsched/pool.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>

namespace ptsched::mixed {

namespace {

using Clock = std::chrono::steady_clock;
using samples::Report;
using samples::Settings;
using samples::spread_of;
using Parts = pool::Pool<Multiply, Price>;
using samples::best_of;
using samples::Times;

constexpr unsigned rows = 1 << 22, options = 1 << 23, volatilities = 32;
/* By hand there are so many blocks of each kind. */
constexpr unsigned parts_by_hand = 8192;
/* One of so many results is looked at. */
constexpr unsigned step = 997;

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/* Where parts end, as shares of all. */
using Cuts = std::vector<double>;

Cuts even_cuts(unsigned parts)
{
    Cuts cuts;
    for (unsigned i = 0; i <= parts; i++)
        cuts.push_back(static_cast<double>(i) / parts);
    return cuts;
}

/* Large parts first: each a share of what is left, but no smaller than the last ones, one of @finest. */
Cuts falling_cuts(unsigned blocks, unsigned finest)
{
    Cuts cuts{0};
    while (cuts.back() < 1) {
        const double part = std::max((1 - cuts.back()) / blocks, 1.0 / finest);
        cuts.push_back(std::min(cuts.back() + part, 1.0));
    }
    return cuts;
}

enum class Kinds { both, matrix, options };

struct Variant {
    std::string name;
    const char *kernel;
    unsigned threads, blocks; /* 0: as many as there is room for */
    Cuts cuts;
    Kinds kinds = Kinds::both;
};

std::vector<Variant> variants()
{
    return {{"even/1024", "mixed", 512, 0, even_cuts(1024)},
            {"even/2048", "mixed", 512, 0, even_cuts(2048)},
            {"even/4096", "mixed", 512, 0, even_cuts(4096)},
            {"falling/264", "mixed", 512, 0, falling_cuts(264, 4096)},
            {"falling/528", "mixed", 512, 0, falling_cuts(528, 4096)},
            {"threads-1024/falling/264", "mixed", 1024, 0, falling_cuts(264, 4096)},
            {"roomy/even/2048", "mixed_roomy", 512, 0, even_cuts(2048)},
            {"roomy/falling/264", "mixed_roomy", 512, 0, falling_cuts(264, 4096)},
            {"roomy/falling/528", "mixed_roomy", 512, 0, falling_cuts(528, 4096)},
            {"matrix-alone", "mixed", 512, 0, even_cuts(2048), Kinds::matrix},
            {"options-alone", "mixed", 512, 0, even_cuts(2048), Kinds::options},
            {"roomy/matrix-alone", "mixed_roomy", 512, 0, even_cuts(2048), Kinds::matrix},
            {"roomy/options-alone", "mixed_roomy", 512, 0, even_cuts(2048), Kinds::options}};
}

pool::Options options_for(device::Device &gpu, const Settings &settings, const Variant &variant)
{
    return {
        .kernel = [=](device::Device &one) { return device::cuda_code(one, settings.module, variant.kernel); },
        .devices = {&gpu},
        .threads = variant.threads,
        .blocks = variant.blocks,
        .depth = 2,
        .capacity = 16384,
        .idle = std::chrono::seconds(10),
    };
}

/*
 * Parts of both kinds by turns, so that blocks of both are beside each other on each multiprocessor. Which is first
 * changes with no period: the numbers of a multiprocessor's blocks may well be all even or all odd.
 */
void run(Parts &pool, const Data &data, const std::vector<Multiply> &products, const std::vector<Price> &prices)
{
    std::vector<Parts::Any> back(256, Parts::Any(Multiply{data.on_device(), 0, 0}));
    for (std::size_t i = 0; i < std::max(products.size(), prices.size()); i++) {
        const bool prices_first = std::popcount(i) % 2;
        if (prices_first && i < prices.size())
            pool.push(prices[i]);
        if (i < products.size())
            pool.push(products[i]);
        if (!prices_first && i < prices.size())
            pool.push(prices[i]);
    }
    for (std::size_t left = products.size() + prices.size(); left;)
        left -= pool.pop_some(back);
}

class Plan {
public:
    Plan(const Data &data, const Cuts &cuts)
    {
        const double count = data.problem().options.count;
        for (std::size_t i = 0; i + 1 < cuts.size(); i++) {
            products_.push_back({data.on_device(), data.row_at(cuts[i]), data.row_at(cuts[i + 1])});
            prices_.push_back(
                {data.on_device(), static_cast<unsigned>(count * cuts[i]), static_cast<unsigned>(count * cuts[i + 1])});
        }
    }
    const std::vector<Multiply> &products() const { return products_; }
    const std::vector<Price> &prices() const { return prices_; }

private:
    std::vector<Multiply> products_;
    std::vector<Price> prices_;
};

/* Seconds, of each of so many runs of a pool that is there before. */
std::vector<double> time_pool(device::Device &gpu, const Settings &settings, const Variant &variant, Data &data)
{
    const Plan plan(data, variant.cuts);
    const auto products = variant.kinds == Kinds::options ? std::vector<Multiply>() : plan.products();
    const auto prices = variant.kinds == Kinds::matrix ? std::vector<Price>() : plan.prices();
    Parts pool(options_for(gpu, settings, variant));
    std::vector<double> times;
    data.clear_results();
    run(pool, data, products, prices);
    if (variant.kinds == Kinds::both)
        data.check(step, "the pool");
    for (unsigned i = 0; i < settings.rounds(); i++) {
        const auto begin = Clock::now();
        run(pool, data, products, prices);
        times.push_back(seconds_since(begin));
    }
    return times;
}

/* The forms without a pool. */
class ByHand {
public:
    ByHand(const std::string &path, device::Device &gpu)
        : gpu_(gpu), library_(path), forms_(library_.find<const char *const>("hand_forms")),
          prepare_(library_.find<decltype(hand_prepare)>("hand_prepare")),
          run_(library_.find<decltype(hand_run)>("hand_run"))
    {
    }

    std::vector<std::string> forms() const
    {
        std::vector<std::string> all;
        for (const char *const *form = forms_; *form; form++)
            all.push_back(*form);
        return all;
    }

    void prepare(const Data &data)
    {
        std::vector<unsigned> cuts;
        for (const double share : even_cuts(parts_by_hand))
            cuts.push_back(data.row_at(share));
        cuts_ = device::Allocation::on_device(gpu_, cuts.size() * sizeof(unsigned));
        const auto queue = gpu_.make_queue();
        queue->upload(cuts_.address(), cuts.data(), cuts.size() * sizeof(unsigned));
        queue->finish();
        expect_right(prepare_(&data.problem(), static_cast<const unsigned *>(device::host_pointer(cuts_.address())),
                              parts_by_hand));
    }

    std::vector<double> time(int form, unsigned rounds) const
    {
        std::vector<double> times;
        for (unsigned i = 0; i <= rounds; i++) {
            double seconds = 0;
            expect_right(run_(form, &seconds));
            if (i)
                times.push_back(seconds);
        }
        return times;
    }

private:
    static void expect_right(const char *wrong)
    {
        if (wrong)
            throw device::Error(std::string("mixed by hand: ") + wrong);
    }

    device::Device &gpu_;
    const samples::Hand library_;
    const char *const *const forms_;
    decltype(hand_prepare) *const prepare_;
    decltype(hand_run) *const run_;
    device::Allocation cuts_;
};

bool is_alone(const std::string &form)
{
    return form.ends_with("-alone");
}

/* As many options as take as long as the matrix, each alone. */
void balance(ByHand &by_hand, Data &data)
{
    by_hand.prepare(data);
    const auto forms = by_hand.forms();
    const auto median_of = [&](const char *form) {
        const auto at = std::find(forms.begin(), forms.end(), form);
        return spread_of(by_hand.time(static_cast<int>(at - forms.begin()), 5)).median;
    };
    const double matrix = std::min(median_of("matrix-alone"), median_of("cusparse-alone"));
    data.use_options(static_cast<unsigned>(data.problem().options.count * matrix / median_of("options-alone")));
    by_hand.prepare(data);
}

void add(Times &times, const std::string &name, const std::vector<double> &seconds)
{
    for (const double one : seconds)
        times[name].push_back(one * 1000);
}

/* All of them one after another, and again. Milliseconds. */
Times time_all(device::Device &gpu, const Settings &settings, const ByHand *by_hand, Data &data)
{
    Times times;
    for (unsigned round = 0; round < settings.rounds(); round++) {
        if (by_hand)
            for (int form = 0; const std::string &name : by_hand->forms()) {
                data.clear_results();
                add(times, "by-hand/" + name, by_hand->time(form++, settings.rounds()));
                if (!is_alone(name))
                    data.check(step, name.c_str());
            }
        for (const Variant &variant : variants())
            add(times, "pool/" + variant.name, time_pool(gpu, settings, variant, data));
    }
    return times;
}

} // namespace

void check(device::Device &gpu, const Settings &settings)
{
    Data data(gpu, 1 << 10, 1 << 8, 2);
    const Variant variant{"", "mixed", 64, 4, falling_cuts(4, 16)};
    const Plan plan(data, variant.cuts);
    Parts pool(options_for(gpu, settings, variant));
    run(pool, data, plan.products(), plan.prices());
    data.check(1, "the pool");
}

void measure(device::Device &gpu, const Settings &settings, Report &report)
{
    Data data(gpu, rows, options, volatilities);
    const auto by_hand = settings.hand.empty() ? nullptr : std::make_unique<ByHand>(settings.hand, gpu);
    if (by_hand)
        balance(*by_hand, data);
    std::printf("a matrix of %u rows with %u entries, and %u options under %u volatilities\n", rows,
                data.problem().matrix.entries, data.problem().options.count, volatilities);
    const Times times = time_all(gpu, settings, by_hand.get(), data);
    for (const auto &[name, values] : times)
        report.record("mixed/" + name + "_ms", spread_of(values), "ms");
    if (!by_hand)
        return;
    const double ours = best_of(times, "pool/");
    const double plain = best_of(times, "by-hand/streams/"), shared = best_of(times, "by-hand/shared-streams/");
    report.record("mixed", ours / std::min(plain, shared), "", "time over two streams, whichever way; the paper: 0.9");
    report.record("mixed/plain-streams", ours / plain, "", "over two streams with a block for each part");
    report.record("mixed/shared-streams", ours / shared, "", "over two streams with room for each other's blocks");
    report.record("mixed/in-turn", ours / best_of(times, "by-hand/in-turn"), "", "over one after another");
    report.record("mixed/one-kernel", ours / best_of(times, "by-hand/one-kernel"), "", "over one kernel made of both");
}

} // namespace ptsched::mixed
