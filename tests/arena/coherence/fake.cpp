// SPDX-License-Identifier: MIT
#include "tests/arena/coherence/fake.hpp"

#include "libptsched/arena/coherence/words.hpp"

#include <algorithm>

namespace test {

namespace {

constexpr int garbage = 0xa5;

} // namespace

/* The virtual GPU's memory is the process's, too. */
FakeMemories::FakeMemories(std::size_t pages, device::Device *gpu)
    : TwoMemories(pages, gpu), plain_(gpu ? 0 : bytes()),
      on_gpu_(gpu ? static_cast<std::byte *>(device::host_pointer(TwoMemories::on_gpu(0))) : plain_.data())
{
    std::memset(on_gpu_, garbage, bytes());
}

class FakeGpuSide::Work : public arena::GpuWork {
public:
    explicit Work(FakeGpuSide &side) : side_(side) {}
    void fill(const arena::Place &place, arena::PageRun run) override
    {
        side_.counts.fills++;
        side_.counts.filled_pages += static_cast<unsigned>(run.count);
        for (std::size_t page = run.first; page < run.end(); page++) {
            std::memcpy(current(place, page), home(place, page), page_bytes);
            std::memcpy(twin(place, page), home(place, page), page_bytes);
        }
    }
    void bring(const arena::Place &place, std::span<const arena::ArenaIncoming> pages) override;
    void fetch(const arena::Place &place, arena::PageRun run, From from) override
    {
        side_.counts.fetches++;
        {
            const std::lock_guard guard(side_.mutex_);
            side_.fetched_.push_back(run);
        }
        side_.counts.fetched_pages += static_cast<unsigned>(run.count);
        std::memcpy(home(place, run.first), from == From::twin ? twin(place, run.first) : current(place, run.first),
                    run.count * page_bytes);
    }
    void send(const arena::Place &place, std::span<const arena::ArenaOutgoing> pages) override;
    void adopt(const arena::Place &place, arena::PageRun run) override
    {
        side_.counts.adopts++;
        std::memcpy(twin(place, run.first), current(place, run.first), run.count * page_bytes);
    }
    void compare(const arena::Place &place, std::span<const arena::ArenaCompared> pages, std::span<unsigned> changed,
                 const Found &found) override;
    std::byte *stage(std::size_t bytes) override
    {
        staged_.resize(bytes);
        return staged_.data();
    }
    void finish() override
    {
        side_.counts.finishes++;
        side_.holds.wait(true);
        if (side_.fails)
            throw device::Fault("the GPU is gone");
    }

private:
    std::byte *current(const arena::Place &place, std::size_t page) const
    {
        return static_cast<std::byte *>(device::host_pointer(side_.memories_.on_gpu(place.offset))) + page * page_bytes;
    }
    static std::byte *twin(const arena::Place &place, std::size_t page)
    {
        return static_cast<std::byte *>(device::host_pointer(place.twin)) + page * page_bytes;
    }
    std::byte *home(const arena::Place &place, std::size_t page) const
    {
        return side_.memories_.alias() + place.offset + page * page_bytes;
    }

    FakeGpuSide &side_;
    std::vector<std::byte> staged_;
};

void FakeGpuSide::Work::bring(const arena::Place &place, std::span<const arena::ArenaIncoming> pages)
{
    static const std::vector<std::byte> zeros(page_bytes);
    side_.counts.brings++;
    side_.counts.brought_pages += static_cast<unsigned>(pages.size());
    for (const arena::ArenaIncoming &one : pages) {
        const auto *const from =
            one.from ? static_cast<const std::byte *>(device::host_pointer(one.from)) : zeros.data();
        if (one.only_different)
            arena::for_each_different({from, page_bytes}, twin(place, one.page), [&](const arena::Difference &word) {
                std::memcpy(current(place, one.page) + word.offset, &word.is, arena::word_bytes);
            });
        else
            std::memcpy(current(place, one.page), from, page_bytes);
        std::memcpy(twin(place, one.page), from, page_bytes);
    }
}

void FakeGpuSide::Work::send(const arena::Place &place, std::span<const arena::ArenaOutgoing> pages)
{
    side_.counts.sends++;
    side_.counts.sent_pages += static_cast<unsigned>(pages.size());
    for (const arena::ArenaOutgoing &one : pages) {
        if (!one.from_twin)
            std::memcpy(twin(place, one.page), current(place, one.page), page_bytes);
        if (one.to)
            std::memcpy(device::host_pointer(one.to), twin(place, one.page), page_bytes);
    }
}

void FakeGpuSide::Work::compare(const arena::Place &place, std::span<const arena::ArenaCompared> pages,
                                std::span<unsigned> changed, const Found &found)
{
    side_.counts.compares++;
    side_.counts.compared_pages += static_cast<unsigned>(pages.size());
    std::vector<unsigned> packed;
    for (std::size_t i = 0; i < pages.size(); i++) {
        const unsigned page = pages[i].page, mode = pages[i].mode;
        changed[i] = 0;
        const auto take = [&](const arena::Difference &word) {
            changed[i]++;
            if (mode == arena::arena_count)
                return;
            const std::size_t number = word.offset / arena::word_bytes;
            const std::size_t in_chunk = number % arena::arena_chunk_words;
            std::vector<unsigned> record(arena::arena_packed_words);
            record[0] = page * (arena::arena_page_words / arena::arena_chunk_words) +
                        static_cast<unsigned>(number / arena::arena_chunk_words);
            record[1] = 1;
            record[2 + in_chunk / 32] = 1U << in_chunk % 32;
            record.push_back(word.is);
            if (mode == arena::arena_pack_with_twin)
                record.push_back(word.was);
            packed.insert(packed.end(), record.begin(), record.end());
        };
        arena::for_each_different({current(place, page), page_bytes}, twin(place, page), take);
        std::memcpy(twin(place, page), current(place, page), page_bytes);
    }
    if (side_.fails)
        throw device::Fault("the GPU is gone");
    if (!packed.empty())
        found(packed);
}

device::Address FakeGpuSide::make_twin(std::size_t bytes)
{
    if (!has_room)
        throw device::OutOfMemory("no room for a twin");
    auto *const made = new std::byte[bytes];
    std::memset(made, garbage, bytes);
    twin_bytes += bytes;
    return reinterpret_cast<std::uintptr_t>(made);
}

void FakeGpuSide::release_twin(device::Address twin, std::size_t bytes) noexcept
{
    delete[] static_cast<std::byte *>(device::host_pointer(twin));
    twin_bytes -= bytes;
}

std::unique_ptr<arena::GpuWork> FakeGpuSide::begin()
{
    return std::make_unique<Work>(*this);
}

} // namespace test
