// SPDX-License-Identifier: MIT
#include "samples/pool/kmeans/measure.hpp"

#include "samples/common/hand.hpp"
#include "samples/pool/kmeans/clustering.hpp"
#include "samples/pool/kmeans/hand.h"
#include <ptsched/pool.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <thread>

namespace ptsched::kmeans {

namespace {

using Clock = std::chrono::steady_clock;
using samples::Report;
using samples::Settings;
using samples::spread_of;
using Tasks = pool::Pool<Assign, Update>;
using samples::best_of;
using samples::Times;

/* One of so many samples is looked at. */
constexpr unsigned step = 127;
constexpr unsigned iterations = 20;
constexpr unsigned dimensions = 1024, sizes[] = {2048, 10240, 40960}, main_size = 10240;

/* All but those that push and pop, and fill slots. */
unsigned host_threads()
{
    return std::max(2u, std::thread::hardware_concurrency() - 2);
}

/* On the device. */
class Data {
public:
    Data(device::Device &gpu, const Clustering &clustering)
        : queue_(gpu.make_queue()), bytes_of_centres_(clustering.bytes_of_centres()),
          samples_(device::Allocation::on_device(gpu, clustering.samples().size() * sizeof(float))),
          centres_(device::Allocation::on_device(gpu, bytes_of_centres_)),
          copy_(device::Allocation::on_device(gpu, sizeof(Problem)))
    {
        const auto *centres = static_cast<const float *>(device::host_pointer(centres_.address()));
        problem_ = {static_cast<const float *>(device::host_pointer(samples_.address())), centres,
                    centres + std::size_t{clusters} * clustering.dimensions(), clustering.count(),
                    clustering.dimensions()};
        queue_->upload(samples_.address(), clustering.samples().data(), samples_.bytes());
        queue_->upload(copy_.address(), &problem_, sizeof(problem_));
        queue_->finish();
    }

    const Problem &problem() const { return problem_; }
    const Problem *on_device() const { return static_cast<const Problem *>(device::host_pointer(copy_.address())); }
    void set_centres(const float *centres)
    {
        queue_->upload(centres_.address(), centres, bytes_of_centres_);
        queue_->finish();
    }

private:
    const std::unique_ptr<device::Queue> queue_;
    const std::size_t bytes_of_centres_;
    device::Allocation samples_, centres_, copy_; /* copy_: of problem_ */
    Problem problem_{};
};

class Search {
public:
    Search(device::Device &gpu, const Settings &settings, Clustering &clustering, Data &data, unsigned blocks)
        : clustering_(clustering), data_(data),
          pool_({
              .kernel = [=](device::Device &one) { return device::cuda_code(one, settings.module, "kmeans"); },
              .devices = {&gpu},
              .threads = tile_threads,
              .blocks = blocks,
              .depth = 2,
              .host_threads = host_threads(),
              .idle = std::chrono::seconds(10),
          })
    {
        pool_.on_host<Update>([this](Update &task) { clustering_.update(task.first, tile_rows, task.nearest); });
        for (unsigned first = 0; first < clustering.count(); first += tile_rows)
            tasks_.push_back({data.on_device(), first, 0, {}});
    }

    void iterate()
    {
        std::vector<Tasks::Any> back(64, Tasks::Any(Update{}));
        pool_.push_all(std::span<const Assign>(tasks_));
        for (std::size_t left = tasks_.size(); left;) {
            const std::size_t count = pool_.pop_some(back);
            for (const Tasks::Any &any : std::span(back).first(count))
                if (const auto *assigned = std::get_if<Assign>(&any))
                    update(*assigned);
                else
                    left--;
        }
        data_.set_centres(clustering_.move());
    }

private:
    void update(const Assign &assigned)
    {
        Update task{assigned.first, 0, {}};
        std::copy(std::begin(assigned.nearest), std::end(assigned.nearest), task.nearest);
        pool_.push(task, {.where = pool::Where::host});
    }

    Clustering &clustering_;
    Data &data_;
    std::vector<Assign> tasks_;
    Tasks pool_;
};

double milliseconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/* What all that is measured has found: the same, but for samples as near to one centre as to another. */
class Agreement {
public:
    void expect(double distance, const char *by)
    {
        if (!first_)
            first_ = distance;
        if (std::abs(distance - first_) > 0.01 * first_)
            throw device::Error("kmeans: samples are at a distance of " + std::to_string(distance) +
                                " from their centres by " + by + ", and of " + std::to_string(first_) +
                                " by what was measured first");
    }

private:
    double first_ = 0;
};

/* Of a pool that is there before. */
double time_pool(device::Device &gpu, const Settings &settings, Clustering &clustering, Data &data,
                 Agreement &agreement)
{
    Search search(gpu, settings, clustering, data, 0);
    data.set_centres(clustering.restart());
    search.iterate();
    data.set_centres(clustering.restart());
    const auto begin = Clock::now();
    for (unsigned i = 0; i < iterations; i++)
        search.iterate();
    const double time = milliseconds_since(begin);
    agreement.expect(clustering.check(step, "the pool"), "the pool");
    return time;
}

/* The forms without a pool. */
class ByHand {
public:
    ByHand(const std::string &path, Clustering &clustering, Data &data)
        : clustering_(clustering), data_(data), library_(path), forms_(library_.find<const char *const>("hand_forms")),
          run_(library_.find<decltype(hand_run)>("hand_run"))
    {
        const hand_host host{&clustering,
                             [](void *to, unsigned first, unsigned count, const Cluster *nearest) {
                                 static_cast<Clustering *>(to)->update(first, count, nearest);
                             },
                             [](void *to) { return static_cast<Clustering *>(to)->move(); },
                             [](void *to) { return static_cast<Clustering *>(to)->used(); }};
        expect_right(library_.find<decltype(hand_prepare)>("hand_prepare")(&data.problem(), &host, host_threads() + 1));
    }

    void time_all(Times &times, Agreement &agreement) const
    {
        for (int form = 0; forms_[form]; form++) {
            double seconds = 0;
            for (const unsigned count : {1u, iterations}) {
                data_.set_centres(clustering_.restart());
                expect_right(run_(form, count, &seconds));
            }
            agreement.expect(clustering_.check(step, forms_[form]), forms_[form]);
            times[std::string("by-hand/") + forms_[form]].push_back(seconds * 1000);
        }
    }

private:
    static void expect_right(const char *wrong)
    {
        if (wrong)
            throw device::Error(std::string("kmeans by hand: ") + wrong);
    }

    Clustering &clustering_;
    Data &data_;
    const samples::Hand library_;
    const char *const *const forms_;
    decltype(hand_run) *const run_;
};

void measure_size(device::Device &gpu, const Settings &settings, unsigned count, Report &report)
{
    Clustering clustering(count, dimensions);
    Data data(gpu, clustering);
    const auto by_hand = settings.hand.empty() ? nullptr : std::make_unique<ByHand>(settings.hand, clustering, data);
    const std::string name = "kmeans" + (count == main_size ? "" : "/" + std::to_string(count));
    Times times;
    Agreement agreement;
    std::printf("%u samples of %u dimensions, %u clusters, %u iterations\n", count, dimensions, clusters, iterations);
    for (unsigned round = 0; round < settings.rounds(); round++) {
        if (by_hand)
            by_hand->time_all(times, agreement);
        times["pool"].push_back(time_pool(gpu, settings, clustering, data, agreement));
    }
    for (const auto &[form, values] : times)
        report.record(name + "/" + form + "_ms", spread_of(values), "ms");
    if (!by_hand)
        return;
    const double ours = best_of(times, "pool");
    report.record(name, best_of(times, "by-hand/streams/") / ours, "", "cuBLAS in streams, with overlap, over ours");
    report.record(name + "/in-turn", best_of(times, "by-hand/in-turn") / ours, "",
                  "cuBLAS without overlap over ours; the paper's is faster, too, but for the smallest sizes");
    report.record(name + "/device-alone", best_of(times, "by-hand/device-alone") / ours, "",
                  "all on the device, over ours");
}

} // namespace

void check(device::Device &gpu, const Settings &settings)
{
    Clustering clustering(256, 64);
    Data data(gpu, clustering);
    Search search(gpu, settings, clustering, data, 4);
    data.set_centres(clustering.restart());
    for (unsigned i = 0; i < 3; i++) {
        search.iterate();
        clustering.check(1, "the pool");
    }
}

void measure(device::Device &gpu, const Settings &settings, Report &report)
{
    for (const unsigned count : sizes)
        measure_size(gpu, settings, count, report);
}

} // namespace ptsched::kmeans
