// SPDX-License-Identifier: MIT
/* What an engine does with pieces, whatever maps them. */
#include "tests/comes_true.hpp"
#include "tests/device/rival.hpp"
#include "tests/spmd/gpu/cases.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/spmd/gpu_block.hpp>
#include <ptsched/spmd/roofline.hpp>

#include <set>
#include <sys/wait.h>
#include <thread>

namespace test {

namespace {

namespace device = ptsched::device;

/* Where the records of each piece are on the GPU. */
struct Places {
    ptsched::Mutex mutex;
    std::vector<device::Address> all;

    spmd::Program program()
    {
        spmd::Program made;
        made.key_width = sizeof(std::uint64_t);
        made.value_width = sizeof(unsigned);
        made.gpu.host.map = [this](spmd::GpuBlock &block) {
            {
                const ptsched::Guard guard(mutex);
                all.push_back(block.data());
            }
            block.emit_numbered(block.data(), sizeof(unsigned));
        };
        return made;
    }
};

std::map<std::uint64_t, unsigned> numbered(const std::vector<unsigned> &records)
{
    std::map<std::uint64_t, unsigned> all;
    for (std::size_t i = 0; i < records.size(); i++)
        all[i] = records[i];
    return all;
}

/* They are not copied once more, until they are forgotten: the GPU does not see that the host's have changed. */
void input_that_stays()
{
    Places places;
    const spmd::Program program = places.program();
    Node node(program);
    std::vector<unsigned> records = numbers(100);
    const auto run = [&] {
        node.pairs.clear();
        node.map<unsigned>(records, 25, {.block = {}, .again = true});
        return summed<std::uint64_t, unsigned>(node.pairs);
    };
    const auto before = numbered(records);
    CHECK(run() == before);
    records.assign(100, 7);
    CHECK(run() == before);
    CHECK_EQ(std::set<device::Address>(places.all.begin(), places.all.end()).size(), 4U);
    node.engine().forget_input();
    CHECK(run() == numbered(records));
}

/* Of a block that is there, a part is there, if it is aligned. */
void parts_of_input_that_stays()
{
    Places places;
    const spmd::Program program = places.program();
    Node node(program);
    std::vector<unsigned> records = numbers(100);
    const auto map = [&](std::size_t first, std::size_t count) {
        spmd::Piece piece{.block = {}, .again = true};
        piece.block = {.data = reinterpret_cast<const std::byte *>(&records[first]),
                       .bytes = count * sizeof(unsigned),
                       .first = first,
                       .records = count,
                       .offset = first * sizeof(unsigned)};
        node.pairs.clear();
        node.give(piece);
        node.wait();
        return node.pairs.values.get<unsigned>(0);
    };
    CHECK_EQ(map(0, 50), 0U);
    CHECK_EQ(map(50, 50), 50U);
    records.assign(100, 7);
    CHECK_EQ(map(0, 20), 0U);
    CHECK_EQ(map(20, 30), 20U);
    CHECK_EQ(map(54, 46), 54U);
    CHECK_EQ(map(21, 10), 7U);
    CHECK_EQ(map(40, 20), 7U);
}

void input_that_goes()
{
    Places places;
    const spmd::Program program = places.program();
    Node node(program);
    std::vector<unsigned> records = numbers(100);
    node.map<unsigned>(records, 25);
    records.assign(100, 7);
    node.pairs.clear();
    node.map<unsigned>(records, 25);
    CHECK((summed<std::uint64_t, unsigned>(node.pairs) == numbered(records)));
}

/* What the GPU has no room for is copied each time. */
void input_that_does_not_fit()
{
    Places places;
    const spmd::Program program = places.program();
    device::gpus().at(1)->limit_memory(1 << 20);
    Node node(program, {.which = {1}, .streams = 1, .attach = false});
    const std::vector<unsigned> records = numbers(600000);
    for (unsigned i = 0; i < 2; i++) {
        node.pairs.clear();
        node.map<unsigned>(records, 50000, {.block = {}, .again = true});
        CHECK((summed<std::uint64_t, unsigned>(node.pairs) == numbered(records)));
    }
}

/* Those that were there are lost when larger ones have no room, and come anew. */
void parameters_that_have_no_room()
{
    spmd::Program program = program_of<std::uint64_t, unsigned>("", false);
    program.gpu = {};
    program.gpu.host.map = [](spmd::GpuBlock &block) { block.emit_numbered(block.parameters(), sizeof(unsigned)); };
    device::gpus().at(1)->limit_memory(1 << 20);
    Node node(program, {.which = {1}, .streams = 1, .attach = false});
    const std::vector<unsigned> some = numbers(40000), too_many = numbers(400000);
    const auto run = [&](const std::vector<unsigned> &parameters) {
        spmd::Piece like;
        like.block.parameters = std::as_bytes(std::span(parameters));
        node.pairs.clear();
        node.map<unsigned>(some, some.size(), like);
    };
    run(some);
    CHECK(contains(error_of([&] { run(too_many); }), "no memory"));
    run(some);
    CHECK((summed<std::uint64_t, unsigned>(node.pairs) == numbered(some)));
}

/* From page-locked memory and from other, in more chunks than are page-locked at once. */
void many_chunks()
{
    Places places;
    const spmd::Program program = places.program();
    const std::vector<unsigned> records = numbers(std::size_t{5} << 20);
    const device::Allocation pinned = device::Allocation::pinned(records.size() * sizeof(unsigned));
    auto *const there = static_cast<unsigned *>(pinned.host_address());
    std::copy(records.begin(), records.end(), there);
    for (const std::span<const unsigned> from :
         {std::span<const unsigned>(records), std::span<const unsigned>(there, records.size())}) {
        Node node(program);
        node.map<unsigned>(from, (std::size_t{3} << 20) + 5);
        bool right = node.pairs.size() == records.size();
        for (std::size_t i = 0; right && i < records.size(); i++)
            right = node.pairs.values.get<unsigned>(i) == node.pairs.keys.get<std::uint64_t>(i);
        CHECK(right);
    }
}

void several_gpus()
{
    const spmd::Program program = program_of<unsigned, std::uint64_t>("histogram");
    const auto engines = spmd::make_gpu_engines(program, {.attach = false});
    CHECK_EQ(engines.size(), 2U);
    CHECK(engines.at(0)->name() == "gpu 0" && engines.at(1)->name() == "gpu 1");
    CHECK(engines.at(0)->is_gpu());
    CHECK(engines.at(0)->at_once() > 1);
    CHECK(contains(error_of([&] { spmd::make_gpu_engines(program, {.which = {2}}); }), "there is no GPU 2"));
    /* Of three ranks of this host, the last one has the first one's. */
    const unsigned whose[] = {0, 1, 0};
    for (unsigned rank = 0; rank < 3; rank++) {
        const auto own = spmd::make_gpu_engines(program, {.host_rank = rank, .host_ranks = 3, .attach = false});
        CHECK(own.size() == 1 && own[0]->name() == "gpu " + std::to_string(whose[rank]));
    }
    CHECK(spmd::make_gpu_engines(spmd::Program(), {}).empty());
}

/* It ends when what it has been given is done, whoever looks. */
void an_end_with_work()
{
    std::atomic<unsigned> done{0};
    const spmd::Program program = program_of<unsigned, std::uint64_t>("histogram");
    const std::vector<unsigned> records(1000, 3);
    {
        const auto engines = spmd::make_gpu_engines(program, first_gpu(3));
        for (unsigned i = 0; i < 3; i++)
            engines.at(0)->start({.block = {.data = reinterpret_cast<const std::byte *>(records.data()),
                                            .bytes = 4000,
                                            .records = 1000}},
                                 [&](spmd::Pairs &&, std::exception_ptr error) { done += error ? 100 : 1; });
    }
    CHECK_EQ(done.load(), 3U);
}

/* While another process has the GPU, a piece waits, and is mapped when that one is done. */
void pieces_in_turns()
{
    std::atomic<bool> is_anothers{false}, was_wrong{false};
    Broker broker;
    Rival rival;
    spmd::Program program;
    program.key_width = sizeof(std::uint64_t);
    program.value_width = sizeof(unsigned);
    program.gpu.host.map = [&](spmd::GpuBlock &block) {
        if (is_anothers)
            was_wrong = true;
        block.emit_numbered(block.data(), sizeof(unsigned));
    };
    Node node(program, {.which = {0}, .streams = 2, .attach = true});
    const std::vector<unsigned> records = numbers(10);
    spmd::Piece piece;
    piece.block.data = reinterpret_cast<const std::byte *>(records.data());
    piece.block.bytes = records.size() * sizeof(unsigned);
    piece.block.records = records.size();
    for (unsigned round = 0; round < 3; round++) {
        rival.tell('t');
        CHECK(rival.told() == 'h');
        is_anothers = true;
        node.give(piece);
        CHECK(comes_true([&] { return broker.state() == "waiting"; }));
        is_anothers = false;
        rival.tell('g');
        node.wait();
        CHECK_EQ(node.pairs.size(), records.size() * (round + 1));
    }
    CHECK(!was_wrong);
}

/* So does what measures a GPU. */
void measuring_in_turns()
{
    std::atomic<double> rate{-1};
    Broker broker;
    Rival rival;
    rival.tell('t');
    CHECK(rival.told() == 'h');
    std::thread measures([&] { rate = spmd::model::measure_gpu(*device::gpus().at(0), 1 << 16).to_gpu; });
    CHECK(comes_true([&] { return broker.state() == "waiting"; }));
    CHECK(rate < 0);
    rival.tell('g');
    measures.join();
    CHECK(rate > 0);
}

/* What a kernel does that must not ends all of the process's work on GPUs, and so it has a process of its own. */
void a_kernel_that_traps()
{
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const int status = std::system((self + " " + fault_argument + " >&2").c_str());
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace

int run_fault()
{
    const spmd::Program program = program_of<unsigned, unsigned>("wrong", false);
    Node node(program);
    const std::vector<unsigned> records = numbers(10);
    return error_of([&] { node.map<unsigned>(records, 10); }).empty() ? 1 : 0;
}

std::vector<tap::Case> engine_cases()
{
    return {{"input that stays on the GPU", input_that_stays},
            {"parts of input that stays on the GPU", parts_of_input_that_stays},
            {"input that comes once", input_that_goes},
            {"input that has no room on the GPU", input_that_does_not_fit},
            {"parameters that have no room on the GPU", parameters_that_have_no_room},
            {"input and pairs of many chunks, from memory of each kind", many_chunks},
            {"an engine for each GPU", several_gpus},
            {"an engine ends when its work has", an_end_with_work},
            {"pieces wait for turns", pieces_in_turns},
            {"what measures a GPU waits for turns", measuring_in_turns},
            {"a kernel that traps is an error", a_kernel_that_traps}};
}

} // namespace test
