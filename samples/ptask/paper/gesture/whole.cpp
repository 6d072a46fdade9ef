// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/gesture/commands.hpp"
#include "samples/ptask/paper/gesture/events.hpp"
#include "samples/ptask/paper/ptask_program.hpp"

#include <algorithm>
#include <optional>

namespace ptsched::paper {

namespace {

constexpr unsigned frames_at_once = 64;

/* Hands are found by threads of the graph, several at once, and leave it in the order of the frames. */
void as_graph(const Scene &scene, Events &events, const GestureOptions &options)
{
    const Workload workload = gestures(scene);
    ptask::Graph graph;
    PtaskProgram program(graph, options.module, workload);
    program.push_constants();
    graph.run();
    for (unsigned begun = 0, ended = 0; ended < options.frames && !events.reader_is_gone();) {
        if (begun < options.frames && begun < ended + PtaskProgram::most_inside) {
            program.push(program.make_blocks(begun++ % workload.sets));
        } else {
            events.deliver(program.pull().at(0)->as<Hand>()[0]);
            ended++;
        }
    }
}

std::unique_ptr<Executor> make(const std::string &way, const std::optional<Gpu> &gpu, const Scene &scene,
                               const Workload &workload)
{
    if (!gpu)
        return make_gestures_on_host(scene, workload);
    const auto variant = std::ranges::find_if(variants(), [&](const Variant &v) { return way == v.name; });
    return variant->make(*gpu, workload, frames_at_once);
}

void by_hand(const std::string &way, const Scene &scene, Events &events, const GestureOptions &options)
{
    /* Some try out what is the fastest before they begin. */
    bool begun = false;
    const Workload workload = gestures(scene, [&](const Hand &hand) {
        if (begun)
            events.deliver(hand);
    });
    std::optional<Gpu> gpu;
    if (way != "host")
        gpu.emplace(options.module);
    auto executor = make(way, gpu, scene, workload);
    begun = true;
    for (unsigned left = options.frames; left && !events.reader_is_gone();) {
        const unsigned count = std::min(left, frames_at_once);
        executor->prepare(count);
        executor->run(count);
        left -= count;
    }
}

} // namespace

void whole(const std::string &way, const GestureOptions &options)
{
    const Scene scene(options.width, options.height);
    auto events = open_events(options.to);
    if (way == "ptask")
        as_graph(scene, *events, options);
    else
        by_hand(way, scene, *events, options);
}

} // namespace ptsched::paper
