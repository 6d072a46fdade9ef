// SPDX-License-Identifier: MIT
/* What tasks read is brought before they are ready, if nobody writes it before. */
#include "libptsched/tasks/gpu/ahead.hpp"

#include "tests/tasks/gpu/cases.hpp"

using namespace test;
using tasks::in, tasks::inout, tasks::out;

namespace {

constexpr std::size_t size = 64 << 10 >> 2;
constexpr std::uint64_t bytes = size * sizeof(float);

/* A task on a GPU that waits for one which has not been given, and of whose accesses the first is settled. */
Node &expected(Core &core, std::vector<tasks::Access> accesses)
{
    Node &node = core.made(std::move(accesses), add_up());
    node.task.settled = 1;
    core.side().expect(node.task);
    return node;
}

void is_brought_ahead()
{
    Core core;
    std::vector<float> x(size, 1), y(size, 2), small(16, 3), z(size);
    Node &later = expected(core, {in(x), in(y), out(z)});
    core.end(core.give({inout(small), inout(small)}, add_up()));
    CHECK_EQ(core.state().bytes_to_devices, bytes + 16 * sizeof(float));
    core.ready(later);
    core.end(later);
    CHECK_EQ(core.state().bytes_to_devices, 2 * bytes + 16 * sizeof(float));
    core.give({}, nothing);
    CHECK_EQ(later.releases, 1U);
    core.finish();
    CHECK(all_are(z, 3));
}

/* A few bytes are not worth it, nor what is there or elsewhere. */
void is_not_brought()
{
    Core core;
    std::vector<float> x(size, 1), y(size - 1, 2), z(size), w(size - 1);
    core.end(core.give({in(x), in(x), out(z)}, add_up()));
    Node &there = expected(core, {in(x), in(x), out(z)});
    Node &written = expected(core, {in(z), in(z), out(x)});
    Node &few = expected(core, {in(y), in(y), out(w)});
    Node &part = expected(core, {in(&x[1], size - 1), in(y), out(w)});
    core.give({}, nothing);
    CHECK_EQ(core.state().bytes_to_devices, bytes);
    CHECK_EQ(few.releases, 0U);
    for (Node *node : {&there, &written, &few, &part}) {
        core.ready(*node);
        core.end(*node);
    }
    core.finish();
    CHECK(all_are(x, 4) && all_are(w, 6));
}

/* What has been given, and what the host writes after it, is not brought again. */
void who_came_too_late()
{
    Core core;
    std::vector<float> x(size, 1), y(size, 2), z(size);
    Node &task = expected(core, {in(x), in(y), out(z)});
    core.ready(task);
    core.end(task);
    core.host({inout(x)});
    std::fill(x.begin(), x.end(), 5.0F);
    core.give({}, nothing);
    core.end(core.give({in(x), in(y), out(z)}, add_up()));
    core.finish();
    CHECK(all_are(z, 7));
    CHECK_EQ(core.state().bytes_to_devices, 3 * bytes);
}

/* However many other ranges there are. */
void stays_until_it_is_used()
{
    constexpr std::size_t ranges = 1100, floats = 16;
    Core core;
    std::vector<float> x(size, 1), y(size, 2), z(size), small(ranges * floats);
    Node &later = expected(core, {in(x), in(y), out(z)});
    for (std::size_t i = 0; i < ranges; i++)
        core.give({in(&small[i * floats], floats)}, nothing);
    core.ready(later);
    core.end(later);
    CHECK_EQ(core.state().bytes_to_devices, 2 * bytes + ranges * floats * sizeof(float));
    core.finish();
    CHECK(all_are(z, 3));
}

/* A part of the memory is left to others: the rest is brought when it is needed. */
void not_more_than_a_part()
{
    Core core;
    constexpr std::size_t large = gpu_memory / 16 / sizeof(float), count = 6;
    std::vector<std::vector<float>> all(count, std::vector<float>(large, 1));
    std::vector<float> z(large);
    std::vector<Node *> nodes;
    for (const auto &x : all)
        nodes.push_back(&expected(core, {in(x), in(x), out(z)}));
    core.give({}, nothing);
    CHECK_EQ(core.state().bytes_to_devices, std::uint64_t{2 * large * sizeof(float)});
    for (Node *node : nodes) {
        core.ready(*node);
        core.end(*node);
    }
    core.finish();
    CHECK(all_are(z, 2));
    CHECK_EQ(core.state().bytes_to_devices, std::uint64_t{count * large * sizeof(float)});
}

} // namespace

std::vector<tap::Case> test::ahead_cases()
{
    return {{"what is read later is brought ahead", is_brought_ahead},
            {"what is not worth it is not brought", is_not_brought},
            {"tasks that have been given expect nothing", who_came_too_late},
            {"what was brought ahead stays until it is used", stays_until_it_is_used},
            {"no more than a part of the memory is used ahead", not_more_than_a_part}};
}
