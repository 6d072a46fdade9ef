/* SPDX-License-Identifier: MIT */
#ifndef TEST_ARENA_COHERENCE_CASES_HPP
#define TEST_ARENA_COHERENCE_CASES_HPP

#include "tests/arena/coherence/fake.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"

namespace test {

/* Of each file of this folder. */
std::vector<tap::Case> page_set_cases();
std::vector<tap::Case> directory_cases();
std::vector<tap::Case> fault_cases();
std::vector<tap::Case> shared_cases();
std::vector<tap::Case> owned_cases();
std::vector<tap::Case> arrival_cases();
std::vector<tap::Case> checked_cases();
std::vector<tap::Case> kernel_cases();
std::vector<tap::Case> random_cases();
std::vector<tap::Case> bench_cases();

/* A window with one region of all its pages. */
struct Bench {
    explicit Bench(std::size_t pages, std::optional<arena::Party> owner = {}, arena::Coherence::Options options = {})
        : memories(pages), coherence(memories, std::move(options), make_side()), region(coherence.add(owner))
    {
        coherence.grow(region, {0, pages * page_bytes});
    }
    /* The first word of a page. */
    volatile std::uint32_t &host(std::size_t page) { return memories.host(page * page_bytes); }
    volatile std::uint32_t &kernel(std::size_t page) { return memories.kernel(page * page_bytes); }

    FakeMemories memories;
    FakeGpuSide *side = nullptr;
    arena::Coherence coherence;
    arena::Region &region;

private:
    std::unique_ptr<arena::GpuSide> make_side()
    {
        auto made = std::make_unique<FakeGpuSide>(memories);
        side = made.get();
        return made;
    }
};

/* What it throws; empty: nothing. */
template <typename Function> std::string error_of(Function function)
{
    try {
        function();
        return {};
    } catch (const ptsched::Error &error) {
        return error.what();
    }
}

inline bool contains(const std::string &text, const std::string &what)
{
    return text.find(what) != std::string::npos;
}

} // namespace test

#endif /* TEST_ARENA_COHERENCE_CASES_HPP */
