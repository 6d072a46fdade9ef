// SPDX-License-Identifier: MIT
#include "tests/bench/arena/bench.hpp"

#include <cstring>

namespace ptsched::bench_arena {

namespace {

device::Device &first_gpu()
{
    if (device::gpus().empty())
        throw Error("there is no GPU, or no driver for it");
    return *device::gpus().front();
}

constexpr std::size_t page_words = page_bytes / 4;
constexpr unsigned threads = 256;

} // namespace

Bench::Bench(const Settings &settings, std::size_t pages)
    : check(settings.check), rounds(settings.check   ? 1
                                    : settings.quick ? 20
                                                     : 100),
      memories(pages, &first_gpu()), gpu(first_gpu()), queue(gpu.make_queue()),
      touch_(device::cuda_code(gpu, settings.module, "touch")),
      change_(device::cuda_code(gpu, settings.module, "change")),
      listed_(device::Allocation::pinned(pages * sizeof(unsigned)))
{
}

std::uint32_t *Bench::word_of(std::byte *memory, std::size_t page, std::size_t i) const
{
    return reinterpret_cast<std::uint32_t *>(memory + page * page_bytes) + i % page_words;
}

void Bench::touch_on_gpu(const std::vector<unsigned> &which, std::uint32_t value)
{
    std::memcpy(listed_.host_address(), which.data(), which.size() * sizeof(unsigned));
    device::Address memory = memories.on_gpu(0), listed = listed_.address();
    unsigned count = static_cast<unsigned>(which.size());
    device::Geometry geometry;
    geometry.grid.x = (count + threads - 1) / threads;
    geometry.block.x = threads;
    queue->run(*touch_, geometry, {&memory, &listed, &count, &value});
    queue->finish();
}

void Bench::change_on_gpu(unsigned every, std::uint32_t value)
{
    device::Address memory = memories.on_gpu(0);
    unsigned long long words = memories.bytes() / 4;
    device::Geometry geometry;
    geometry.grid.x = check ? 2 : 1024;
    geometry.block.x = threads;
    queue->run(*change_, geometry, {&memory, &words, &every, &value});
    queue->finish();
}

void Bench::touch_on_host(const std::vector<unsigned> &which, std::uint32_t value)
{
    for (std::size_t i = 0; i < which.size(); i++)
        *word_of(memories.view(), which[i], i) = value;
}

void Bench::check_gpu(const std::vector<unsigned> &which, std::uint32_t value)
{
    for (std::size_t i = 0; i < which.size(); i++) {
        std::uint32_t found = 0;
        const auto word = static_cast<std::size_t>(reinterpret_cast<std::byte *>(word_of(nullptr, which[i], i)) -
                                                   static_cast<std::byte *>(nullptr));
        queue->download(&found, memories.on_gpu(word), sizeof(found));
        queue->finish();
        if (found != value)
            throw Error("the GPU has not what the host has written on page " + std::to_string(which[i]));
    }
}

void Bench::check_host(const std::vector<unsigned> &which, std::uint32_t value)
{
    for (std::size_t i = 0; i < which.size(); i++)
        if (*word_of(memories.view(), which[i], i) != value)
            throw Error("the host has not what the GPU has written on page " + std::to_string(which[i]));
}

double ratio_of(const std::vector<double> &time, const std::vector<double> &against)
{
    return samples::spread_of(time).median / samples::spread_of(against).median;
}

} // namespace ptsched::bench_arena
