// SPDX-License-Identifier: MIT
#include "libptsched/arena/core.hpp"

#include <algorithm>

namespace ptsched::arena {

namespace {

constexpr std::size_t usual_bytes = std::size_t{64} << 30, usual_bytes_of_one_memory = std::size_t{4} << 30;

std::vector<device::Device *> devices_of(const Options &options)
{
    std::vector<device::Device *> devices = options.devices.empty() ? device::gpus() : options.devices;
    for (const device::Device *device : devices) {
        if (!device)
            throw Error("Options::devices has a null pointer");
        if (device == &device::host())
            throw Error("Options::devices has the host, which every window is for anyway: only GPUs are named");
    }
    return devices;
}

std::unique_ptr<Ground> ground_of(const Options &options, const std::vector<device::Device *> &devices)
{
    const bool two = options.memory == Memory::copies && !devices.empty();
    const std::size_t usual = two ? usual_bytes : usual_bytes_of_one_memory;
    const std::size_t bytes = options.bytes ? options.bytes : usual;
    if (bytes > SIZE_MAX / 2)
        throw Error("Options::bytes is " + std::to_string(bytes) + ": there are not as many addresses");
    if (devices.empty())
        return make_host_alone(bytes);
    return two ? make_two_memories(devices, bytes) : make_managed(devices, bytes);
}

std::unique_ptr<device::Turns> turns_of(const Options &options, const std::vector<device::Device *> &devices)
{
    if (devices.empty())
        return nullptr;
    return device::Turns::open(*devices[0], options.attach, {.user = "arena", .library = "arena"});
}

} // namespace

WindowCore::WindowCore(const Options &options)
    : devices(devices_of(options)), ground(ground_of(options, devices)), pages(*ground),
      table(ground->begin(), ground->bytes()), checked(options.checked), turns(turns_of(options, devices)),
      coherence(ground->memories()
                    ? std::make_unique<Coherence>(
                          *ground->memories(),
                          Coherence::Options{options.checked,
                                             [this](std::size_t offset) { return describe(table.begin() + offset); },
                                             [this] { return std::make_shared<const InTurn>(*this); }})
                    : nullptr)
{
    add_window(ground->begin(), ground->bytes());
}

WindowCore::~WindowCore()
{
    remove_window(ground->begin());
}

void WindowCore::check(Side side) const
{
    if (side.is_host() || side.number() < devices.size())
        return;
    throw Error("the window has no GPU " + std::to_string(side.number()) + ": it has " +
                std::to_string(devices.size()) + ", from 0 on");
}

std::shared_ptr<ArenaCore> WindowCore::make_arena(std::optional<Side> owner, const ArenaOptions &options)
{
    if (owner)
        check(*owner);
    std::string name = options.name;
    {
        const Guard lock(mutex_);
        made_++;
        if (name.empty())
            name = std::to_string(made_);
    }
    auto arena = std::make_shared<ArenaCore>(shared_from_this(), owner, std::move(name), options);
    const Guard lock(mutex_);
    std::erase_if(arenas_, [](const auto &one) { return one.expired(); });
    arenas_.push_back(arena);
    return arena;
}

std::vector<std::shared_ptr<ArenaCore>> WindowCore::arenas()
{
    std::vector<std::shared_ptr<ArenaCore>> all;
    const Guard lock(mutex_);
    for (const auto &one : arenas_)
        if (auto arena = one.lock())
            all.push_back(std::move(arena));
    return all;
}

std::size_t WindowCore::offset_of(const void *address) const
{
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(table.begin());
}

Stretch WindowCore::stretch_of(const PageRange &range) const
{
    return {offset_of(range.begin), range.bytes};
}

std::string WindowCore::describe(const void *address) const
{
    BlockRun *run = table.find(address);
    Heap *heap = run ? run->owner() : nullptr;
    if (auto text = heap ? heap->describe(address) : std::nullopt)
        return *text;
    return table.contains(address) ? "nothing that is allocated" : "private memory";
}

State WindowCore::state()
{
    State state;
    state.bytes = ground->bytes();
    state.made = pages.made();
    for (const auto &arena : arenas()) {
        const Heap::Use use = arena->heap.use();
        state.arenas++;
        state.blocks += use.blocks;
        state.block_bytes += use.bytes;
    }
    if (!coherence)
        return state;
    const CoherenceState done = coherence->state();
    state.read_faults = done.read_faults;
    state.write_faults = done.write_faults;
    state.twins = done.twins;
    state.compared_pages = done.compared_pages;
    state.different_words = done.different_words;
    state.to_gpus = done.to_gpus;
    state.to_host = done.to_host;
    state.made_shared = done.made_shared;
    state.fault_seconds = done.faults;
    state.difference_seconds = done.differences;
    state.copy_seconds = done.copies;
    return state;
}

InTurn::InTurn(const WindowCore &window) : turns_(window.turns.get())
{
    if (turns_)
        turns_->wait_to_begin();
}

InTurn::~InTurn()
{
    if (turns_)
        turns_->ended();
}

} // namespace ptsched::arena
