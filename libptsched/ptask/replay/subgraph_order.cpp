// SPDX-License-Identifier: MIT
#include "libptsched/ptask/replay/subgraph_order.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace ptsched::ptask {

namespace {

/* Of larger subgraphs it is not found out: it takes a bit for each pair of steps. */
constexpr std::size_t most_steps = 1 << 14;

/* Which steps come before which, whatever else happens. */
class Ancestors {
public:
    explicit Ancestors(const std::vector<SubgraphStep> &steps) : bits_(steps.size())
    {
        const std::size_t words = steps.size() / word_bits + 1;
        for (std::size_t i = 0; i < steps.size(); i++) {
            bits_[i].resize(words);
            for (std::size_t before : steps[i].after) {
                for (std::size_t word = 0; word < words; word++)
                    bits_[i][word] |= bits_[before][word];
                bits_[i][before / word_bits] |= std::uint64_t{1} << before % word_bits;
            }
        }
    }

    bool comes_before(std::size_t step, std::size_t other) const
    {
        return bits_[other][step / word_bits] >> step % word_bits & 1;
    }

private:
    static constexpr std::size_t word_bits = 64;
    std::vector<std::vector<std::uint64_t>> bits_; /* by step */
};

/* Who waits for one that comes later need not wait for those before it: each wait takes a GPU some time. */
void drop_needless_waits(Subgraph &subgraph, const Ancestors &ancestors)
{
    for (SubgraphStep &step : subgraph.steps) {
        const std::vector<std::size_t> all = step.after;
        std::erase_if(step.after, [&](std::size_t before) {
            return std::any_of(all.begin(), all.end(),
                               [&](std::size_t other) { return ancestors.comes_before(before, other); });
        });
    }
}

/*
 * A value comes into the place of one that everybody has ended with before it is written. Then there is less, and more
 * of it is in caches. Inputs have their own: they come at any time.
 */
class Rooms {
public:
    Rooms(Subgraph &subgraph, const Ancestors *ancestors)
        : subgraph_(subgraph), ancestors_(ancestors), is_input_(subgraph.buffers.size())
    {
        for (const SubgraphInput &input : subgraph.inputs)
            is_input_[input.buffer] = true;
    }

    /* Buffers come in the order in which they are written, by their first users. */
    void assign()
    {
        for (std::size_t i = 0; i < subgraph_.buffers.size(); i++)
            if (SubgraphBuffer &buffer = subgraph_.buffers[i]; buffer.has_room && !take_over(i)) {
                buffer.offset = subgraph_.inside_bytes;
                subgraph_.inside_bytes += device::align_up(buffer.bytes);
            }
    }

private:
    bool take_over(std::size_t which)
    {
        SubgraphBuffer &buffer = subgraph_.buffers[which];
        if (!ancestors_ || is_input_[which] || buffer.users.empty())
            return false;
        auto &held = held_[device::align_up(buffer.bytes)];
        auto is_over = [&](std::size_t other) {
            const auto &users = subgraph_.buffers[other].users;
            return std::all_of(users.begin(), users.end(),
                               [&](std::size_t user) { return ancestors_->comes_before(user, buffer.users.front()); });
        };
        auto free = std::find_if(held.rbegin(), held.rend(), is_over);
        const bool found = free != held.rend();
        if (found) {
            buffer.offset = subgraph_.buffers[*free].offset;
            held.erase(std::next(free).base());
        }
        held.push_back(which);
        return found;
    }

    Subgraph &subgraph_;
    const Ancestors *ancestors_;
    std::vector<bool> is_input_;
    std::unordered_map<std::size_t, std::vector<std::size_t>> held_; /* by size: the last value in each place */
};

} // namespace

void use_order(Subgraph &subgraph)
{
    if (subgraph.steps.size() > most_steps) {
        Rooms(subgraph, nullptr).assign();
        return;
    }
    const Ancestors ancestors(subgraph.steps);
    drop_needless_waits(subgraph, ancestors);
    Rooms(subgraph, &ancestors).assign();
}

} // namespace ptsched::ptask
