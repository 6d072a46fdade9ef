// SPDX-License-Identifier: MIT
/* Host functions, which give a stream work: kernels of tests/vgpu/programs/kernels.cu, by the driver. */
#include "samples/common/driver.hpp"
#include "tests/spmd/gpu/cases.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/spmd.hpp>
#include <ptsched/spmd/gpu_block.hpp>

namespace test {

namespace {

namespace driver = ptsched::samples::driver;
using ptsched::device::Address;

float *floats(Address address)
{
    return static_cast<float *>(ptsched::device::host_pointer(address));
}

spmd::Program program_with(std::function<void(spmd::GpuBlock &)> map, std::size_t value_width = sizeof(float))
{
    spmd::Program program;
    program.key_width = sizeof(std::uint64_t);
    program.value_width = value_width;
    program.gpu.host.map = std::move(map);
    return program;
}

/* Twice the records: the kernel adds them to themselves. */
Address doubled(spmd::GpuBlock &block, const driver::Kernel &add)
{
    const auto count = static_cast<unsigned>(block.on_host().bytes / sizeof(float));
    const Address sums = block.allocate(count * sizeof(float));
    driver::launch(add.here(), block.stream(), {(count + 63) / 64}, {64},
                   static_cast<const float *>(floats(block.data())), static_cast<const float *>(floats(block.data())),
                   floats(sums), count);
    return sums;
}

std::vector<float> records(std::size_t count)
{
    std::vector<float> all(count);
    std::iota(all.begin(), all.end(), 1.0F);
    return all;
}

void a_value_for_each_record()
{
    const driver::Kernel add(kernels(), "vector_add");
    const spmd::Program program =
        program_with([&](spmd::GpuBlock &block) { block.emit_numbered(doubled(block, add), sizeof(float)); });
    Node node(program);
    const std::vector<float> all = records(1000);
    node.map<float>(all, 300);
    std::map<std::uint64_t, float> wanted;
    for (std::size_t i = 0; i < all.size(); i++)
        wanted[i] = 2 * all[i];
    CHECK((summed<std::uint64_t, float>(node.pairs) == wanted));
    CHECK_EQ(node.collect(), 0U);
}

/* Values of a width that only the function knows: so many records each. */
void values_that_are_byte_strings()
{
    const driver::Kernel add(kernels(), "vector_add");
    const spmd::Program program = program_with(
        [&](spmd::GpuBlock &block) {
            const std::uint64_t keys[] = {block.on_host().first, block.on_host().first + 2};
            block.emit(2, keys, doubled(block, add), sizeof(std::uint64_t), 2 * sizeof(float));
        },
        spmd::any_width);
    Node node(program);
    const std::vector<float> all = records(8);
    node.map<float>(all, 4);
    CHECK_EQ(node.pairs.size(), 4U);
    std::map<std::uint64_t, std::string> found;
    for (std::size_t i = 0; i < node.pairs.size(); i++)
        found[node.pairs.keys.get<std::uint64_t>(i)] = node.pairs.values[i];
    for (std::uint64_t key = 0; key < 8; key += 2) {
        const float wanted[] = {2 * all[key], 2 * all[key + 1]};
        CHECK(found[key] == std::string_view(reinterpret_cast<const char *>(wanted), sizeof(wanted)));
    }
}

/*
 * Each block has more pairs than a GPU's thread sorts by itself, with the same keys as others: workers combine them, in
 * as much memory as there is, whether cores map, too, or not.
 */
void many_pairs_of_the_same_keys()
{
    constexpr std::uint64_t keys = 6000, times = 16;
    std::vector<std::uint64_t> all(keys * times);
    for (std::size_t i = 0; i < all.size(); i++)
        all[i] = i % keys;
    spmd::Job<std::uint64_t, std::uint64_t> job;
    job.input = spmd::Input::memory(std::span<const std::uint64_t>(all));
    job.block_bytes = keys * sizeof(std::uint64_t);
    job.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
    job.gpu.host.map = [](spmd::GpuBlock &block) {
        block.emit(block.on_host().records, block.data(), block.data(), sizeof(std::uint64_t), sizeof(std::uint64_t));
    };
    for (const bool cores_map : {false, true})
        for (const bool is_ordered : {false, true})
            for (const std::size_t memory : {std::size_t{64} << 20, std::size_t{256} << 10}) {
                if (cores_map)
                    job.cpu.map = [](const spmd::Block &block, spmd::Emitter<std::uint64_t, std::uint64_t> &out) {
                        for (const std::uint64_t one : block.as<std::uint64_t>())
                            out(one, one);
                    };
                job.ordered = is_ordered;
                spmd::Options options;
                options.threads = 3;
                options.gpus = {0};
                options.attach = false;
                options.memory = memory;
                const auto result = spmd::Cluster(options).run(job);
                CHECK_EQ(result.pairs().size(), keys);
                bool right = true;
                for (const auto &[key, value] : result.pairs())
                    right = right && value == key * times;
                CHECK(right);
            }
}

/* Keys of the GPU: the records themselves, as what they are. */
void keys_on_the_gpu()
{
    spmd::Program program = program_with([&](spmd::GpuBlock &block) {
        block.emit(block.on_host().records, block.data(), block.data(), sizeof(float), sizeof(float));
    });
    program.key_width = sizeof(float);
    Node node(program);
    const std::vector<float> all = records(50);
    node.map<float>(all, 20);
    std::map<float, float> wanted;
    for (const float one : all)
        wanted[one] = one;
    CHECK((summed<float, float>(node.pairs) == wanted));
}

/* To memory that is page-locked, and to other memory; those whose keys do not follow one another come as pairs. */
void values_with_places()
{
    const driver::Kernel add(kernels(), "vector_add");
    const std::vector<float> all = records(1000);
    const spmd::Program straight =
        program_with([&](spmd::GpuBlock &block) { block.emit_numbered(doubled(block, add), sizeof(float)); });
    const spmd::Program crossed = program_with([&](spmd::GpuBlock &block) {
        const std::uint64_t first = block.on_host().first, keys[] = {first + 1, first};
        block.emit(2, keys, doubled(block, add), sizeof(std::uint64_t), sizeof(float));
    });
    const auto pinned = ptsched::device::Allocation::pinned(all.size() * sizeof(float));
    std::vector<float> other(all.size());
    for (float *const memory : {static_cast<float *>(pinned.host_address()), other.data()}) {
        /* Before the node: when one piece has failed, others are under way. */
        spmd::Placed placed(std::as_writable_bytes(std::span(memory, all.size())), sizeof(float)),
            few(std::as_writable_bytes(std::span(memory, 10)), sizeof(float));
        Node node(straight);
        node.map<float>(all, 300, {.placed = &placed});
        CHECK(node.pairs.empty());
        CHECK_EQ(placed.take_count(), all.size());
        for (std::size_t i = 0; i < all.size(); i++)
            if (memory[i] != 2 * all[i])
                CHECK_EQ(memory[i], 2 * all[i]);
        Node crossing(crossed);
        crossing.map<float>(std::span(all).first(8), 2, {.placed = &placed});
        CHECK_EQ(crossing.pairs.size(), 8U);
        CHECK(contains(error_of([&] { node.map<float>(all, 300, {.placed = &few}); }),
                       "has no place: Output::into has 10"));
    }
}

void what_it_throws()
{
    const spmd::Program program =
        program_with([](spmd::GpuBlock &block) { block.emit_numbered(block.data(), sizeof(double)); });
    Node node(program);
    const std::vector<float> all = records(10);
    CHECK(contains(error_of([&] { node.map<float>(all, 10); }), "emits values of 8 bytes"));
    CHECK(node.pairs.empty());
    bool fails = true;
    const spmd::Program other = program_with([&](spmd::GpuBlock &block) {
        if (fails)
            throw ptsched::Error("no such luck");
        block.emit_numbered(block.data(), sizeof(float));
    });
    Node again(other);
    CHECK(contains(error_of([&] { again.map<float>(all, 10); }), "no such luck"));
    fails = false;
    again.map<float>(all, 10);
    CHECK_EQ(again.pairs.size(), 10U);
}

} // namespace

std::vector<tap::Case> host_function_cases()
{
    return {{"a host function: a value for each record", a_value_for_each_record},
            {"a host function: values of any width", values_that_are_byte_strings},
            {"many pairs of the same keys", many_pairs_of_the_same_keys},
            {"a host function: keys on the GPU", keys_on_the_gpu},
            {"a host function: values with places", values_with_places},
            {"a host function: what it throws ends the piece, and no other", what_it_throws}};
}

} // namespace test
