// SPDX-License-Identifier: MIT
#include "samples/pool/gpus2/measure.hpp"

#include "samples/pool/gpus2/factors.hpp"
#include <ptsched/pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

namespace ptsched::gpus2 {

namespace {

using ::gpus2::Task;
using samples::Report;
using samples::Settings;
using samples::spread_of;

constexpr unsigned threads = 256, shared_bytes = 3 * (128 * 20 + 16 * 128) * sizeof(float); /* as in kernels.cu */
constexpr std::size_t threads_of_multiprocessor = 2048;
/* Rows of tiles that are done together, so that blocks beside each other read the same. */
constexpr unsigned rows_together = 8;

/* Some of the GPUs as one pool. */
class Product {
public:
    /* @places: in @all. */
    Product(std::span<device::Device *const> all, std::vector<unsigned> places, const Factors &factors,
            const Shape &shape, const Settings &settings)
        : pool_({
              .kernel = [&](device::Device &gpu) { return make(gpu, all, factors, settings); },
              .devices = pick(all, places),
              .threads = threads,
              .shared_bytes = shared_bytes,
              .blocks = shape.blocks ? shape.blocks : fewest_multiprocessors(all),
              .depth = shape.depth,
          })
    {
        const unsigned in_row = factors.size() / ::gpus2::tile;
        for (unsigned first = 0; first < in_row; first += rows_together)
            for (unsigned column = 0; column < in_row; column++)
                for (unsigned row = first; row < std::min(first + rows_together, in_row); row++)
                    tasks_.push_back({row, column, 0, 0});
        results_.resize(tasks_.size());
    }

    /* Milliseconds that it takes. */
    double run()
    {
        const auto begin = std::chrono::steady_clock::now();
        pool_.push_all(std::span<const Task>(tasks_));
        /* Who sleeps wakes late: of a millisecond that is a part. */
        for (std::size_t popped = 0; popped < results_.size();)
            if (const auto task = pool_.try_pop())
                results_[popped++] = *task;
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }

    /* Of the last run. */
    const std::vector<Task> &results() const { return results_; }

private:
    static std::vector<device::Device *> pick(std::span<device::Device *const> all, const std::vector<unsigned> &places)
    {
        std::vector<device::Device *> some;
        for (const unsigned place : places)
            some.push_back(all[place]);
        return some;
    }

    static unsigned fewest_multiprocessors(std::span<device::Device *const> all)
    {
        std::size_t fewest = ~std::size_t{0};
        for (const device::Device *gpu : all)
            fewest = std::min(fewest, gpu->most_threads().value_or(threads_of_multiprocessor));
        return static_cast<unsigned>(std::max<std::size_t>(1, fewest / threads_of_multiprocessor));
    }

    /* Tasks do not know where they will run: the kernel of each GPU knows its matrices. */
    static std::unique_ptr<device::Code> make(device::Device &gpu, std::span<device::Device *const> all,
                                              const Factors &factors, const Settings &settings)
    {
        auto code = device::cuda_code(gpu, settings.module, "tiles", device::Module::own);
        const auto variable = code->variable("matrices");
        if (!variable || variable->bytes != sizeof(::gpus2::Matrices))
            throw Error(settings.module + " has no variable \"matrices\" of " +
                        std::to_string(sizeof(::gpus2::Matrices)) + " bytes: it is of another version");
        const auto place = static_cast<unsigned>(std::find(all.begin(), all.end(), &gpu) - all.begin());
        const ::gpus2::Matrices matrices = factors.on(place);
        const auto queue = gpu.make_queue();
        queue->upload(variable->address, &matrices, sizeof(matrices));
        queue->finish();
        return code;
    }

    pool::Pool<Task> pool_;
    std::vector<Task> tasks_, results_;
};

/* Each GPU alone, and then all of them. */
std::vector<std::vector<unsigned>> groups_of(unsigned gpus)
{
    std::vector<std::vector<unsigned>> groups;
    for (unsigned place = 0; place < gpus; place++)
        groups.push_back({place});
    groups.emplace_back(gpus);
    std::iota(groups.back().begin(), groups.back().end(), 0U);
    return groups;
}

std::string name_of(const std::vector<unsigned> &group)
{
    return group.size() > 1 ? std::to_string(group.size()) + " GPUs" : "GPU " + std::to_string(group[0]) + " alone";
}

/* Milliseconds by each group; the product is checked. */
std::vector<double> one_round(std::span<device::Device *const> gpus, const Shape &shape, const Settings &settings,
                              Factors &factors, unsigned times)
{
    std::vector<double> found;
    for (const std::vector<unsigned> &group : groups_of(static_cast<unsigned>(gpus.size()))) {
        factors.forget();
        Product product(gpus, group, factors, shape, settings);
        std::vector<double> took;
        /* The first has the launch in it. */
        for (unsigned i = 0; i <= times; i++) {
            const double now = product.run();
            if (i || !times)
                took.push_back(now);
        }
        factors.check(product.results(), name_of(group));
        found.push_back(samples::percentile(std::move(took), 0.5));
    }
    return found;
}

void measure(std::span<device::Device *const> gpus, const Shape &shape, unsigned size, const Settings &settings,
             Report &report)
{
    Factors factors(gpus, size);
    std::vector<std::vector<double>> found(gpus.size() + 1);
    std::vector<double> shares;
    for (unsigned round = 0; round < settings.rounds(); round++) {
        const std::vector<double> took = one_round(gpus, shape, settings, factors, settings.quick ? 3 : 15);
        double rates = 0;
        for (std::size_t i = 0; i < took.size(); i++)
            found[i].push_back(took[i]);
        for (std::size_t i = 0; i < gpus.size(); i++)
            rates += 1 / took[i];
        shares.push_back(1 / took.back() / rates);
    }
    const std::string name = "gpus" + std::to_string(gpus.size()) + "/" + std::to_string(size);
    const auto groups = groups_of(static_cast<unsigned>(gpus.size()));
    for (std::size_t i = 0; i < groups.size(); i++)
        report.record(name + (groups[i].size() > 1 ? "/all_ms" : "/alone" + std::to_string(i) + "_ms"),
                      spread_of(found[i]), "ms", name_of(groups[i]));
    report.record(name, spread_of(shares), "",
                  "the sum of the GPUs alone; the paper: " + std::string(size < 6144 ? "0.95" : "0.99"));
}

} // namespace

void run(const Shape &shape, const Settings &settings, Report &report)
{
    const std::vector<device::Device *> &all = device::gpus();
    if (shape.gpus < 2)
        throw Error("--gpus is " + std::to_string(shape.gpus) + ", and must be 2 at least");
    if (shape.size % ::gpus2::tile)
        throw Error("--size is " + std::to_string(shape.size) + ", and must be a multiple of 128: say " +
                    std::to_string((shape.size / ::gpus2::tile + 1) * ::gpus2::tile));
    if (all.size() < shape.gpus) {
        std::printf("gpus2: it needs %u GPUs, and finds %zu: nothing is measured\n", shape.gpus, all.size());
        return;
    }
    const std::span<device::Device *const> gpus(all.data(), shape.gpus);
    if (settings.check) {
        Factors factors(gpus, 2 * ::gpus2::tile);
        one_round(gpus, {.gpus = shape.gpus, .blocks = 2, .depth = 1}, settings, factors, 0);
        return;
    }
    for (const unsigned size : shape.size ? std::vector{shape.size} : std::vector{4096U, 6144U})
        measure(gpus, shape, size, settings, report);
}

} // namespace ptsched::gpus2
