// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/by_hand.hpp"

#include <algorithm>
#include <map>

namespace ptsched::paper {

Layout::Layout(const Workload &workload) : buffer_of(workload.values.size())
{
    auto before = ancestors(workload);
    auto writer = writers(workload);
    auto reader = readers(workload);
    std::map<std::size_t, std::vector<ValueId>> held; /* by bytes: the last value of each buffer that may be reused */

    auto is_result = [&](ValueId value) {
        return std::find(workload.results.begin(), workload.results.end(), value) != workload.results.end();
    };
    auto add = [&](ValueId value) {
        buffer_of[value] = sizes.size();
        sizes.push_back(workload.values[value].bytes());
    };
    auto over_before = [&](ValueId value, std::size_t step) {
        auto ended = [&](std::size_t other) { return other == none_writes || before[step][other]; };
        return ended(writer[value]) && !reader[value].empty() &&
               std::all_of(reader[value].begin(), reader[value].end(), ended);
    };
    auto may_go = [&](ValueId value) {
        return !is_result(value) && !(workload.inputs_stay && workload.values[value].is_input());
    };

    for (ValueId value = 0; value < workload.values.size(); value++) {
        if (!workload.values[value].is_input())
            continue;
        add(value);
        if (may_go(value))
            held[workload.values[value].bytes()].push_back(value);
    }
    for (std::size_t step = 0; step < workload.steps.size(); step++)
        for (ValueId value : workload.steps[step].outputs) {
            auto &candidates = held[workload.values[value].bytes()];
            auto free = std::find_if(candidates.rbegin(), candidates.rend(),
                                     [&](ValueId other) { return over_before(other, step); });
            if (free == candidates.rend()) {
                add(value);
            } else {
                buffer_of[value] = buffer_of[*free];
                candidates.erase(std::next(free).base());
            }
            if (may_go(value))
                candidates.push_back(value);
        }
}

Buffers::Buffers(const Gpu &gpu, const Workload &workload, const Layout &layout) : buffer_of_(layout.buffer_of)
{
    std::map<std::string, CUfunction> functions;

    for (std::size_t bytes : layout.sizes)
        memory_.push_back(make_memory(bytes));
    for (ValueId value = 0; value < workload.values.size(); value++)
        addresses_.push_back(at(value));
    for (const Step &step : workload.steps) {
        auto [function, is_new] = functions.try_emplace(step.kernel);
        if (is_new)
            function->second = gpu.function(step.kernel);
        Launch &launch = launches_.emplace_back(Launch{&step, function->second, {}});
        for (const auto &values : {step.inputs, step.outputs})
            for (ValueId value : values)
                launch.arguments.push_back(&addresses_[value]);
        if (!step.constant.empty())
            launch.arguments.push_back(const_cast<std::byte *>(step.constant.data()));
    }
}

void Buffers::launch(std::size_t step, CUstream stream) const
{
    const Launch &l = launches_[step];
    paper::launch(*l.step, l.function, l.arguments, stream);
}

void launch(const Step &step, CUfunction function, const std::vector<void *> &arguments, CUstream stream)
{
    const Geometry &g = step.geometry;
    check(driver().launch(function, g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z, g.shared_bytes,
                          stream, const_cast<void **>(arguments.data()), nullptr),
          "cuLaunchKernel");
}

void Outcome::take(const std::vector<const std::uint32_t *> &results)
{
    if (workload_.finish) {
        finished_.resize(workload_.finish->elements);
        workload_.finish->function(results, finished_.data());
    } else {
        results_ = results;
    }
}

std::vector<Content> Outcome::contents() const
{
    if (workload_.finish)
        return {finished_};
    std::vector<Content> contents;
    for (std::size_t i = 0; i < results_.size(); i++) {
        std::size_t elements = workload_.values[workload_.results[i]].elements;
        contents.emplace_back(results_[i], results_[i] + elements);
    }
    return contents;
}

} // namespace ptsched::paper
