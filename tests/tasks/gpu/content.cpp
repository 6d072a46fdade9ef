// SPDX-License-Identifier: MIT
/* Where contents are: what tasks read is there, what they write comes home, and shapes that overlap agree. */
#include "libptsched/tasks/homecoming.hpp"
#include "tests/tasks/gpu/cases.hpp"

using namespace test;
using tasks::in, tasks::inout, tasks::out, tasks::Tile;

namespace {

void copied_once()
{
    Core core;
    std::vector<float> x(256, 1), y(256, 2), z(256), w(256);
    core.give({in(x), in(y), out(z)}, add_up());
    core.give({in(x), in(y), out(w)}, add_up());
    CHECK_EQ(core.state().bytes_to_devices, std::uint64_t{2 * 256 * sizeof(float)});
    core.finish();
    CHECK(all_are(z, 3) && all_are(w, 3));
    CHECK_EQ(core.state().bytes_to_host, std::uint64_t{2 * 256 * sizeof(float)});
}

/* What a task of the host writes, devices have not. */
void written_by_the_host()
{
    Core core;
    std::vector<float> x(256, 1), y(256, 2), z(256);
    core.end(core.give({in(x), in(y), out(z)}, add_up()));
    core.host({in(z), inout(x)});
    CHECK(all_are(z, 3));
    std::fill(x.begin(), x.end(), 5.0F);
    core.end(core.give({in(x), in(z), out(z)}, add_up()));
    core.finish();
    CHECK(all_are(z, 8));
    /* x twice, y, and z not, since it was only read. */
    CHECK_EQ(core.state().bytes_to_devices, std::uint64_t{3 * 256 * sizeof(float)});
}

/* Written over by the host, nothing need come home before. */
void written_over_by_the_host()
{
    Core core;
    std::vector<float> x(256, 1), z(256);
    core.end(core.give({in(x), in(x), out(z)}, add_up()));
    core.host({out(z)});
    CHECK_EQ(core.state().bytes_to_host, std::uint64_t{0});
    std::fill(z.begin(), z.end(), 7.0F);
    core.end(core.give({in(x), in(z), inout(x)}, add_up()));
    core.finish();
    CHECK(all_are(x, 8));
}

/* Who has waited may write without a task. */
void written_between_waits()
{
    Core core;
    std::vector<float> x(256, 1), z(256);
    core.give({in(x), in(x), out(z)}, add_up());
    core.finish();
    CHECK(all_are(z, 2));
    std::fill(x.begin(), x.end(), 4.0F);
    core.give({in(x), in(x), out(z)}, add_up());
    core.finish();
    CHECK(all_are(z, 8));
}

void one_range_is_waited_for()
{
    Core core;
    std::vector<float> x(256, 1), y(256), z(256);
    core.end(core.give({in(x), in(x), out(y)}, add_up()));
    core.end(core.give({in(x), in(y), out(z)}, add_up()));
    const tasks::Range range = in(z).range;
    core.until([&] { return core.side().bring_home(&range); });
    CHECK(all_are(z, 3));
    CHECK_EQ(core.state().bytes_to_host, std::uint64_t{256 * sizeof(float)});
    core.finish();
    CHECK(all_are(y, 2));
}

/* For who waits for all tasks, what none writes any more comes; but not before it is known who writes it last. */
void comes_while_it_is_read()
{
    Core core;
    Held held;
    std::vector<float> x(256, 1), y(256, 2), z(256);
    const tasks::Range range = in(z).range;
    Node &first = core.give({in(x), in(y), out(z)}, add_up());
    core.end(first);
    Node &last = core.made({in(z), in(y), out(z)}, add_up());
    unsigned releases = 0;
    const tasks::Release release = [&](tasks::Task &) { releases++; };
    tasks::Homecoming early(core.side(), {{range, {&last.task}}}, release);
    early.go_on();
    CHECK_EQ(core.state().bytes_to_host, std::uint64_t{0});
    core.ready(last);
    core.until([&] { return last.given; });
    Node &reader = core.give({in(z)}, held.task(), {&last});
    tasks::Homecoming homecoming(core.side(), {{range, {&reader.task}}}, release);
    core.until([&] {
        homecoming.go_on();
        return core.state().bytes_to_host == range.bytes();
    });
    core.until([&] { return core.side().bring_home(&range); });
    CHECK(all_are(z, 5) && !reader.ended);
    CHECK_EQ(releases, 1U);
    held.end();
    core.end(reader);
    early.go_on();
    CHECK_EQ(releases, 2U);
    core.finish();
}

/* Parts of a vector, the whole, and a part that lies across. */
void unlike_shapes()
{
    constexpr std::size_t n = 256;
    Core core;
    std::vector<float> x(n, 1);
    float *const a = x.data(), *const b = a + n / 2, *const across = a + n / 4;
    Node &left = core.give({inout(a, n / 2), inout(a, n / 2)}, add_up());
    Node &right = core.give({inout(b, n / 2), inout(b, n / 2)}, add_up());
    Node &whole = core.give({inout(x), inout(x)}, add_up(), {&left, &right});
    Node &middle = core.give({inout(across, n / 2), inout(across, n / 2)}, add_up(), {&whole});
    Node &again = core.give({inout(a, n / 2), inout(a, n / 2)}, add_up(), {&middle});
    core.finish();
    CHECK(!again.failure);
    for (std::size_t i = 0; i < n; i++)
        CHECK_EQ(x[i], i < n / 4 ? 8.0F : i < n / 2 ? 16.0F : i < 3 * n / 4 ? 8.0F : 4.0F);
}

/* What covers others and does not read them does not wait for their way home. */
void written_over_by_a_larger_one()
{
    constexpr std::size_t n = 256;
    Core core;
    std::vector<float> x(n, 1), y(n, 5);
    Node &part = core.give({inout(x.data(), n / 2), inout(x.data(), n / 2)}, add_up());
    core.give({in(y), in(y), out(x)}, add_up(), {&part});
    core.finish();
    CHECK(all_are(x, 10));
    CHECK_EQ(core.state().bytes_to_host, std::uint64_t{n * sizeof(float)});
}

void two_shapes_in_one_task()
{
    Core core;
    std::vector<float> x(256, 1);
    Node &bad = core.give({in(x.data(), 128), inout(x)}, nothing);
    core.end(bad);
    CHECK(!bad.given);
    CHECK(refused([&] { std::rethrow_exception(bad.failure); }, {"which overlap", "one range", "task 1"}));
    /* Both may be read. */
    Node &good = core.give({in(x.data(), 128), in(x)}, nothing);
    core.end(good);
    CHECK(!good.failure);
}

/* On the device, rows lie one behind the other. */
void strided_tiles()
{
    constexpr std::size_t n = 16, half = n / 2;
    Core core;
    std::vector<float> x(n * n);
    for (std::size_t i = 0; i < n * n; i++)
        x[i] = static_cast<float>(i);
    const Tile<float> all{x.data(), n, n, n}, corner = all.part(half, half, half, half), top = all.part(0, 0, half, n);
    std::size_t pitch = 0;
    Node &one = core.give({inout(corner), inout(corner)}, [&](const tasks::Call &call) {
        pitch = call.places[0].pitch;
        add_up()(call);
    });
    CHECK_EQ(pitch, half * sizeof(float));
    Node &other = core.give({inout(top), inout(top)}, add_up());
    core.end(one);
    core.end(other);
    core.host({inout(all)});
    CHECK(one.given && other.given);
    for (std::size_t row = 0; row < n; row++)
        for (std::size_t column = 0; column < n; column++) {
            const bool is_twice = row < half || column >= half;
            CHECK_EQ(all(row, column), static_cast<float>(row * n + column) * (is_twice ? 2.0F : 1.0F));
        }
}

/* A range of nothing, and one that is used twice by one task. */
void odd_ranges()
{
    Core core;
    std::vector<float> x(64, 1), none;
    Node &task = core.give({in(none), in(x), in(x), inout(x)}, [](const tasks::Call &call) {
        void *a = call.places[1].address, *b = call.places[2].address, *sum = call.places[3].address;
        unsigned n = 64;
        launch(call, "vector_add", n, {&a, &b, &sum, &n});
    });
    core.end(task);
    CHECK(!task.failure);
    core.finish();
    CHECK(all_are(x, 2));
}

} // namespace

std::vector<tap::Case> test::content_cases()
{
    return {{"what is there is not copied again", copied_once},
            {"what the host writes makes copies stale", written_by_the_host},
            {"what the host writes over need not come home", written_over_by_the_host},
            {"who has waited may write", written_between_waits},
            {"one range comes home, others stay", one_range_is_waited_for},
            {"what is read comes home", comes_while_it_is_read},
            {"ranges that overlap in part", unlike_shapes},
            {"a range that covers another is written over it", written_over_by_a_larger_one},
            {"two shapes of the same memory in one task", two_shapes_in_one_task},
            {"tiles are dense on the device", strided_tiles},
            {"empty ranges, and one that is named twice", odd_ranges}};
}
