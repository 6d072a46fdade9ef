// SPDX-License-Identifier: MIT
/*
 * The gestural interface without a GPU: each step by all processors, as many rows for each, which then wait for
 * another.
 */
#include "samples/ptask/paper/by_hand.hpp"
#include "samples/ptask/paper/gestures.hpp"

#include <algorithm>
#include <thread>

namespace ptsched::paper {

namespace {

template <typename Function> void in_parallel(unsigned height, const Function &function)
{
    const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, height);
    std::vector<std::jthread> others;
    auto rows = [=](unsigned part) { return Rows{height * part / threads, height * (part + 1) / threads}; };

    for (unsigned part = 1; part < threads; part++)
        others.emplace_back([=, &function] { function(rows(part)); });
    function(rows(0));
}

class OnHost final : public Executor {
public:
    OnHost(const Scene &scene, const Workload &workload)
        : scene_(scene), workload_(workload), cloud_(scene.pixels()), filtered_(scene.pixels()), outcome_(workload)
    {
    }

    void prepare(unsigned) override {}

    void run(unsigned count) override
    {
        for (unsigned i = 0; i < count; i++) {
            set_ = next_++ % workload_.sets;
            do_frame(workload_.values.at(left_).contents[set_], workload_.values.at(right_).contents[set_]);
            outcome_.take({reinterpret_cast<const std::uint32_t *>(filtered_.data())});
        }
    }

    std::vector<Content> results() override { return outcome_.contents(); }
    unsigned last_set() const override { return set_; }

private:
    void do_frame(const Content &left, const Content &right)
    {
        const unsigned height = scene_.filter.height;
        in_parallel(height, [&](Rows rows) { transform(left, right, scene_, rows, cloud_.data()); });
        in_parallel(height, [&](Rows rows) { filter(cloud_.data(), scene_.filter, rows, 1, filtered_.data()); });
    }

    const Scene scene_;
    const Workload &workload_;
    std::vector<float> cloud_, filtered_;
    Outcome outcome_;
    ValueId left_ = workload_.steps.at(0).inputs.at(0), right_ = workload_.steps.at(1).inputs.at(0);
    unsigned next_ = 0, set_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_gestures_on_host(const Scene &scene, const Workload &workload)
{
    return std::make_unique<OnHost>(scene, workload);
}

} // namespace ptsched::paper
