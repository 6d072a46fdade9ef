// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/ptask_program.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ptsched::paper {

using namespace ptask;

namespace {

Template form_of(const Value &value)
{
    return Template::of<std::uint32_t>(value.elements);
}

/*
 * For each input when it is to be pushed: all that a result needs before what only the next ones do, so that a device
 * has work while the rest is pushed, and results go back while blocks still come.
 */
std::vector<std::size_t> turns_of(const Workload &workload)
{
    const std::vector<std::size_t> writer = writers(workload);
    std::vector<std::size_t> turns(workload.values.size(), workload.values.size());
    std::vector<bool> seen(workload.values.size());
    std::vector<ValueId> left(workload.results.rbegin(), workload.results.rend());
    std::size_t next = 0;

    while (!left.empty()) {
        const ValueId value = left.back();
        left.pop_back();
        if (seen[value])
            continue;
        seen[value] = true;
        if (writer[value] == none_writes) {
            turns[value] = next++;
            continue;
        }
        const auto &inputs = workload.steps[writer[value]].inputs;
        left.insert(left.end(), inputs.rbegin(), inputs.rend());
    }
    return turns;
}

std::string text_of(const std::string &file)
{
    std::ifstream stream(file);
    std::ostringstream text;
    if (!(text << stream.rdbuf()))
        throw Error("cannot read the kernels in " + file);
    return text.str();
}

/* Makes tasks of steps: of OpenCL C, as in kernels.cl, where the name of the module ends in .cl, else of CUDA. */
class Kernels {
public:
    Kernels(Graph &graph, const std::string &module)
        : graph_(graph), module_(module), is_opencl_(module.ends_with(".cl")),
          source_(is_opencl_ ? text_of(module) : std::string())
    {
    }

    Task &add(const std::string &name, const Step &step, std::vector<PortOptions> ports) const
    {
        if (!step.constant.empty()) {
            ports.push_back(value("constant", step.constant.size()));
            if (is_opencl_)
                ports.back().form.binding = Binding::constant;
        }
        if (is_opencl_)
            return graph_.opencl(name, {source_, step.kernel, step.geometry}, ports);
        return graph_.cuda(name, {module_, step.kernel, step.geometry}, ports);
    }

private:
    Graph &graph_;
    const std::string module_;
    const bool is_opencl_;
    const std::string source_;
};

/* The host's part as a task: its ports are the results and "out". */
Task &add_finish(Graph &graph, const Workload &workload)
{
    std::vector<PortOptions> ports;
    for (ValueId value : workload.results)
        ports.push_back(in("v" + std::to_string(value), form_of(workload.values[value])));
    ports.push_back(out("out", Template::of<std::uint32_t>(workload.finish->elements)));
    auto function = [&finish = *workload.finish](const Arguments &contents) {
        std::vector<const std::uint32_t *> results;
        for (std::size_t i = 0; i + 1 < contents.size(); i++)
            results.push_back(static_cast<const std::uint32_t *>(contents[i]));
        finish.function(results, static_cast<std::uint32_t *>(contents[contents.size() - 1]));
    };
    return graph.host("finish", function, ports);
}

} // namespace

PtaskProgram::PtaskProgram(Graph &graph, const std::string &module, const Workload &workload) : workload_(workload)
{
    const Kernels kernels(graph, module);
    std::vector<Port *> sources(workload.values.size());
    std::vector<Input *> inputs(workload.values.size());
    /* A step may read a value more than once. */
    auto name_of = [](std::size_t i, ValueId value) { return std::to_string(i) + "v" + std::to_string(value); };
    auto feed = [&](ValueId value, Port &port) {
        if (sources[value]) {
            graph.connect(*sources[value], port, most_inside);
        } else if (inputs[value]) {
            graph.connect(*inputs[value], port, most_inside);
        } else {
            inputs[value] = &graph.input(port, most_inside);
            inputs_.emplace_back(inputs[value], value);
        }
    };

    for (const Step &step : workload.steps) {
        std::vector<PortOptions> ports;
        for (std::size_t i = 0; i < step.inputs.size(); i++)
            ports.push_back(in(name_of(i, step.inputs[i]), form_of(workload.values[step.inputs[i]])));
        for (ValueId value : step.outputs)
            ports.push_back(out("v" + std::to_string(value), form_of(workload.values[value])));
        Task &task = kernels.add(step.name, step, std::move(ports));
        for (std::size_t i = 0; i < step.inputs.size(); i++)
            feed(step.inputs[i], task[name_of(i, step.inputs[i])]);
        for (ValueId value : step.outputs)
            sources[value] = &task["v" + std::to_string(value)];
        if (!step.constant.empty())
            constants_.emplace_back(&graph.input(task["constant"]), &step);
        tasks_.push_back(&task);
    }
    const std::vector<std::size_t> turns = turns_of(workload);
    std::ranges::stable_sort(inputs_, {}, [&turns](const auto &input) { return turns[input.second]; });
    if (workload.finish) {
        Task &finish = add_finish(graph, workload);
        for (ValueId value : workload.results)
            graph.connect(*sources[value], finish["v" + std::to_string(value)], most_inside);
        outputs_.push_back(&graph.output(finish["out"], most_inside));
        tasks_.push_back(&finish);
    } else {
        for (ValueId value : workload.results)
            outputs_.push_back(&graph.output(*sources[value], most_inside));
    }
}

void PtaskProgram::push_constants()
{
    for (auto &[input, step] : constants_)
        input->push(Datablock::of(step->constant.data(), step->constant.size()));
}

void PtaskProgram::set_priority(int priority)
{
    for (Task *task : tasks_)
        task->set_priority(priority);
}

std::uint64_t PtaskProgram::completed() const
{
    std::uint64_t sum = 0;
    for (const Task *task : tasks_)
        sum += task->completed();
    return sum;
}

PtaskProgram::Blocks PtaskProgram::make_blocks(unsigned set) const
{
    Blocks blocks(workload_.values.size());
    for (ValueId id = 0; id < blocks.size(); id++) {
        const Value &value = workload_.values[id];
        if (value.is_input())
            blocks[id] = Datablock::of(value.contents[set].data(), value.bytes());
    }
    return blocks;
}

bool PtaskProgram::push(const Blocks &blocks, Timeout timeout)
{
    for (auto &[input, value] : inputs_)
        if (!input->push(blocks[value], timeout))
            return false;
    return true;
}

PtaskProgram::Blocks PtaskProgram::pull(Timeout timeout)
{
    Blocks blocks;
    blocks.reserve(outputs_.size());
    for (Output *output : outputs_) {
        blocks.push_back(output->pull(timeout));
        if (!blocks.back())
            return {};
    }
    return blocks;
}

} // namespace ptsched::paper
