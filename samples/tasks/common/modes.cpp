// SPDX-License-Identifier: MIT
#include "samples/tasks/common/modes.hpp"

namespace ptsched::samples {

namespace {

struct Mode {
    const char *name;
    tasks::Memory memory;
};
constexpr Mode modes[] = {
    {"explicit", tasks::Memory::copied}, {"prefetch", tasks::Memory::prefetched}, {"managed", tasks::Memory::managed}};

} // namespace

Choice Modes::choice()
{
    std::vector<std::string> words;
    for (const Mode &mode : modes)
        words.emplace_back(mode.name);
    words.emplace_back("all");
    return {"--memory", &chosen_, "how data comes to the GPU where tasks do it: by copies, by the driver, or both",
            words};
}

std::vector<NamedWay> Modes::ways(std::function<std::unique_ptr<Way>()> by_hand,
                                  const std::function<std::unique_ptr<Way>(tasks::Memory)> &by_tasks) const
{
    std::vector<NamedWay> ways{{"hand", std::move(by_hand)}};
    for (unsigned i = 0; i < std::size(modes); i++)
        if (chosen_ == i || chosen_ == std::size(modes))
            ways.push_back({modes[i].name, [by_tasks, i] { return by_tasks(modes[i].memory); }});
    return ways;
}

tasks::Options options(tasks::Memory memory, unsigned gpus)
{
    const std::vector<device::Device *> &all = device::gpus();
    if (all.size() < gpus)
        throw Error("there are " + std::to_string(all.size()) + " GPUs, and " + std::to_string(gpus) + " are needed");
    tasks::Options made;
    made.devices.assign(all.begin(), all.begin() + gpus);
    made.memory = memory;
    return made;
}

tasks::Kernel kernel_of(const std::string &module, const std::string &name)
{
    return tasks::Kernel([=](device::Device &gpu) { return device::cuda_code(gpu, module, name); });
}

} // namespace ptsched::samples
