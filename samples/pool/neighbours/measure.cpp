// SPDX-License-Identifier: MIT
#include "samples/pool/neighbours/measure.hpp"

#include "samples/common/hand.hpp"
#include "samples/pool/neighbours/hand.h"
#include "samples/pool/neighbours/selection.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <thread>

namespace ptsched::neighbours {

namespace {

using Clock = std::chrono::steady_clock;
using samples::Report;
using samples::Settings;
using samples::spread_of;
using Tasks = pool::Pool<Tile, Select>;
using samples::best_of;
using samples::Times;

/* One of so many samples' neighbours are looked at. */
constexpr unsigned step = 509;

struct Size {
    unsigned samples, dimensions, wanted;
};
constexpr Size checked{256, 64, 4}, sizes[] = {{2048, 256, 16}, {8192, 256, 16}, {16384, 256, 16}};
constexpr Size main_size = sizes[1];

/* All but those that push and pop, and fill slots. */
unsigned host_threads()
{
    return std::max(2u, std::thread::hardware_concurrency() - 2);
}

std::vector<float> draw(const Size &size)
{
    std::mt19937 random(1);
    std::uniform_real_distribution<float> between(-1, 1);
    std::vector<float> values(static_cast<std::size_t>(size.samples) * size.dimensions);
    for (float &value : values)
        value = between(random);
    return values;
}

class Data {
public:
    Data(device::Device &gpu, const Size &size)
        : size_(size), samples_(draw(size)), selection_(samples_, size.dimensions, size.wanted),
          memory_(device::Allocation::on_device(gpu, samples_.size() * sizeof(float))),
          copy_(device::Allocation::on_device(gpu, sizeof(Problem))),
          problem_{static_cast<const float *>(device::host_pointer(memory_.address())), size.samples, size.dimensions}
    {
        const auto queue = gpu.make_queue();
        queue->upload(memory_.address(), samples_.data(), samples_.size() * sizeof(float));
        queue->upload(copy_.address(), &problem_, sizeof(problem_));
        queue->finish();
    }

    const Size &size() const { return size_; }
    Selection &selection() { return selection_; }
    const Problem &problem() const { return problem_; }
    const Problem *on_device() const { return static_cast<const Problem *>(device::host_pointer(copy_.address())); }

private:
    const Size size_;
    const std::vector<float> samples_;
    Selection selection_;
    device::Allocation memory_, copy_;
    const Problem problem_;
};

/* A row of tiles after another, each in one of so many buffers until the host has selected. */
class Search {
public:
    Search(device::Device &gpu, const Settings &settings, Data &data, unsigned blocks, unsigned buffers)
        : data_(data), rows_(data.size().samples / tile_rows),
          bytes_(std::size_t{tile_rows} * data.size().samples * sizeof(float)), buffers_(std::min(buffers, rows_)),
          memory_(device::Allocation::pinned(bytes_ * buffers_)), pool_(options_for(gpu, settings, blocks))
    {
        pool_.on_host<Select>([this](Select &task) { data_.selection().select(task.row, tile_rows, task.products); });
    }

    void run()
    {
        std::vector<Tasks::Any> back(128, Tasks::Any(Select{}));
        missing_.assign(rows_, data_.size().samples / tile_columns);
        next_ = 0;
        for (unsigned buffer = 0; buffer < buffers_; buffer++)
            push_row(buffer);
        for (unsigned left = rows_; left;) {
            const std::size_t count = pool_.pop_some(back);
            for (const Tasks::Any &task : std::span(back).first(count))
                if (const auto *tile = std::get_if<Tile>(&task)) {
                    take(*tile);
                } else {
                    left--;
                    push_row(std::get<Select>(task).buffer);
                }
        }
    }

private:
    static pool::Options options_for(device::Device &gpu, const Settings &settings, unsigned blocks)
    {
        return {
            .kernel = [=](device::Device &one) { return device::cuda_code(one, settings.module, "neighbours"); },
            .devices = {&gpu},
            .threads = tile_threads,
            .blocks = blocks,
            .depth = 2,
            .capacity = std::size_t{1} << 16,
            .host_threads = host_threads(),
            .idle = std::chrono::seconds(10),
        };
    }

    float *products(unsigned buffer) const
    {
        return reinterpret_cast<float *>(static_cast<std::byte *>(memory_.host_address()) + bytes_ * buffer);
    }

    /* The next one, if there is one left. */
    void push_row(unsigned buffer)
    {
        if (next_ == rows_)
            return;
        tiles_.clear();
        for (unsigned column = 0; column < data_.size().samples; column += tile_columns)
            tiles_.push_back({data_.on_device(), products(buffer), next_ * tile_rows, column});
        next_++;
        pool_.push_all(std::span<const Tile>(tiles_));
    }

    void take(const Tile &tile)
    {
        if (--missing_[tile.row / tile_rows])
            return;
        const auto offset = reinterpret_cast<std::byte *>(tile.products) - reinterpret_cast<std::byte *>(products(0));
        pool_.push(Select{tile.products, tile.row, static_cast<unsigned>(static_cast<std::size_t>(offset) / bytes_)},
                   {.where = pool::Where::host});
    }

    Data &data_;
    const unsigned rows_; /* of tiles */
    const std::size_t bytes_;
    const unsigned buffers_;
    device::Allocation memory_;
    unsigned next_ = 0;
    std::vector<unsigned> missing_; /* tiles of each row that have not come back */
    std::vector<Tile> tiles_;
    Tasks pool_;
};

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/* Milliseconds, of a pool that is there before. */
double time_pool(device::Device &gpu, const Settings &settings, Data &data, unsigned buffers)
{
    Search search(gpu, settings, data, 0, buffers);
    search.run();
    data.selection().clear();
    const auto begin = Clock::now();
    search.run();
    const double seconds = seconds_since(begin);
    data.selection().check(step, "the pool");
    return seconds * 1000;
}

/* The forms without a pool. */
class ByHand {
public:
    ByHand(const std::string &path, Data &data)
        : data_(data), library_(path), forms_(library_.find<const char *const>("hand_forms")),
          run_(library_.find<decltype(hand_run)>("hand_run"))
    {
        const auto select = [](void *selection, unsigned first, unsigned rows, const float *products) {
            static_cast<Selection *>(selection)->select(first, rows, products);
        };
        expect_right(library_.find<decltype(hand_prepare)>("hand_prepare")(&data.problem(), select, &data.selection(),
                                                                           host_threads() + 1));
    }

    /* Milliseconds. */
    void time_all(Times &times) const
    {
        for (int form = 0; forms_[form]; form++) {
            double seconds = 0;
            expect_right(run_(form, &seconds));
            data_.selection().clear();
            expect_right(run_(form, &seconds));
            data_.selection().check(step, forms_[form]);
            times[std::string("by-hand/") + forms_[form]].push_back(seconds * 1000);
        }
    }

private:
    static void expect_right(const char *wrong)
    {
        if (wrong)
            throw device::Error(std::string("neighbours by hand: ") + wrong);
    }

    Data &data_;
    const samples::Hand library_;
    const char *const *const forms_;
    decltype(hand_run) *const run_;
};

void measure_size(device::Device &gpu, const Settings &settings, const Size &size, Report &report)
{
    Data data(gpu, size);
    const auto by_hand = settings.hand.empty() ? nullptr : std::make_unique<ByHand>(settings.hand, data);
    const std::string name =
        "neighbours" + (size.samples == main_size.samples ? "" : "/" + std::to_string(size.samples));
    std::printf("%u samples of %u dimensions, the %u nearest of each\n", size.samples, size.dimensions, size.wanted);
    Times times;
    for (unsigned round = 0; round < settings.rounds(); round++) {
        if (by_hand)
            by_hand->time_all(times);
        for (const unsigned buffers : {16u, 48u})
            times["pool/buffers-" + std::to_string(buffers)].push_back(time_pool(gpu, settings, data, buffers));
    }
    for (const auto &[form, values] : times)
        report.record(name + "/" + form + "_ms", spread_of(values), "ms");
    if (!by_hand)
        return;
    const double ours = best_of(times, "pool/");
    report.record(name, best_of(times, "by-hand/streams/") / ours, "", "cuBLAS in streams, with overlap, over ours");
    report.record(name + "/in-turn", best_of(times, "by-hand/in-turn") / ours, "",
                  "cuBLAS without overlap over ours; the paper's is faster, too");
}

} // namespace

void check(device::Device &gpu, const Settings &settings)
{
    Data data(gpu, checked);
    Search search(gpu, settings, data, 4, 2);
    search.run();
    data.selection().check(1, "the pool");
}

void measure(device::Device &gpu, const Settings &settings, Report &report)
{
    for (const Size &size : sizes)
        measure_size(gpu, settings, size, report);
}

} // namespace ptsched::neighbours
