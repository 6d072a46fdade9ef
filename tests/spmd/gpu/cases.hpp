/* SPDX-License-Identifier: MIT */
/* What the tests of a GPU's engine share: programs, and a node that gives it pieces and waits. */
#ifndef TEST_SPMD_GPU_CASES_HPP
#define TEST_SPMD_GPU_CASES_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/spmd/run/engine.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"
#include <ptsched/base/error.hpp>

#include <condition_variable>
#include <cstring>
#include <map>
#include <numeric>

namespace test {

namespace spmd = ptsched::spmd;

std::vector<tap::Case> device_function_cases();
std::vector<tap::Case> host_function_cases();
std::vector<tap::Case> engine_cases();
std::vector<tap::Case> kept_input_cases();
std::vector<tap::Case> kept_job_cases();

/* For a process of its own, whose first argument is that. */
inline constexpr char fault_argument[] = "fault";
int run_fault();

/* With a combine that adds numbers of the values' type. */
template <typename Key, typename Value> spmd::Program program_of(const std::string &kernel, bool combines = true)
{
    spmd::Program program;
    program.name = kernel;
    program.key_width = spmd::width_of<Key>();
    program.value_width = spmd::width_of<Value>();
    program.gpu.kernels = {folder() + "/spmd-test.so", kernel};
    if (combines)
        program.combine = [](std::byte *, const std::byte *) {};
    return program;
}

inline spmd::GpuChoice first_gpu(unsigned streams = 2)
{
    return {.which = {0}, .streams = streams, .attach = false};
}

/* Gives pieces to an engine, as many at a time as that takes, and has what comes of them. */
class Node {
public:
    explicit Node(const spmd::Program &program, const spmd::GpuChoice &choice = first_gpu())
        : engines_(spmd::make_gpu_engines(program, choice)), pairs(program.key_width, program.value_width)
    {
    }
    spmd::Engine &engine() { return *engines_.at(0); }
    std::size_t engines() const { return engines_.size(); }

    /* Of records of a fixed size, by pieces of so many. */
    template <typename T> void map(std::span<const T> records, std::size_t some, spmd::Piece like = {})
    {
        for (std::size_t first = 0; first < records.size(); first += some) {
            const std::size_t count = std::min(some, records.size() - first);
            like.block.data = reinterpret_cast<const std::byte *>(&records[first]);
            like.block.bytes = count * sizeof(T);
            like.block.first = first;
            like.block.offset = first * sizeof(T);
            like.block.records = count;
            give(like);
        }
        wait();
    }
    void give(const spmd::Piece &piece)
    {
        wait(engine().at_once() - 1);
        begin();
        engine().start(piece, done());
    }
    /* What was kept back, too; returns how many portions that were. */
    unsigned collect()
    {
        wait();
        const unsigned portions = engine().kept();
        for (unsigned i = 0; i < portions; i++) {
            begin();
            engine().collect(i, done());
        }
        wait();
        return portions;
    }
    /* At most so many are under way then. Throws the first error. */
    void wait(unsigned most = 0)
    {
        ptsched::Lock lock(mutex_);
        while (under_way_ > most)
            changed_.wait(lock);
        if (error_)
            std::rethrow_exception(std::exchange(error_, nullptr));
    }

private:
    void begin()
    {
        const ptsched::Guard guard(mutex_);
        under_way_++;
    }
    spmd::Done done()
    {
        return [this](spmd::Pairs &&more, std::exception_ptr error) {
            const ptsched::Guard guard(mutex_);
            pairs.append(more);
            if (error && !error_)
                error_ = std::move(error);
            under_way_--;
            changed_.notify_all();
        };
    }

    ptsched::Mutex mutex_;
    std::condition_variable changed_;
    unsigned under_way_ = 0;
    std::exception_ptr error_;
    std::vector<std::unique_ptr<spmd::Engine>> engines_; /* goes first: it may call done() */

public:
    spmd::Pairs pairs; /* so far; to be looked at when nothing is under way */
};

/* The sum of a key's values, or what @combine says. */
template <typename Key, typename Value, typename Combine>
std::map<Key, Value> combined(const spmd::Pairs &pairs, const Combine &combine)
{
    std::map<Key, Value> all;
    for (std::size_t i = 0; i < pairs.size(); i++) {
        const Value value = pairs.values.get<Value>(i);
        const auto [at, is_new] = all.try_emplace(Key(pairs.keys.get<Key>(i)), value);
        if (!is_new)
            at->second = combine(at->second, value);
    }
    return all;
}
template <typename Key, typename Value> std::map<Key, Value> summed(const spmd::Pairs &pairs)
{
    return combined<Key, Value>(pairs, [](Value a, Value b) { return a + b; });
}

inline std::vector<unsigned> numbers(std::size_t count)
{
    std::vector<unsigned> all(count);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

/* Of what @function throws; empty if it does not. */
template <typename Function> std::string error_of(const Function &function)
{
    try {
        function();
    } catch (const ptsched::Error &error) {
        return error.what();
    }
    return "";
}

inline bool contains(const std::string &text, const std::string &part)
{
    const bool found = text.find(part) != std::string::npos;
    if (!found)
        std::printf("# \"%s\" is not in \"%s\"\n", part.c_str(), text.c_str());
    return found;
}

} // namespace test

#endif /* TEST_SPMD_GPU_CASES_HPP */
