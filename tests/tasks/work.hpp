/* SPDX-License-Identifier: MIT */
/*
 * Random sets of tasks on one block of memory: what they use, in which way, and what is inside which. What a set leaves
 * in memory is computed one task after another, too.
 */
#ifndef TEST_TASKS_WORK_HPP
#define TEST_TASKS_WORK_HPP

#include "tests/tasks/fold.h"
#include <ptsched/tasks/range.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace test {

namespace tasks = ptsched::tasks;

/* Of a block, from which its begin is counted. */
struct Part {
    unsigned begin = 0, rows = 1, row_bytes = 1, pitch = 1;
    tasks::Mode mode = tasks::Mode::in;
    bool exclusive_or = false; /* of a reduction; or else it is a sum */

    FoldKind kind() const;
    tasks::Access access(std::byte *block) const;
};

enum class On : std::uint8_t { host, gpu, either };

struct Work {
    /* A task; or the thread that makes tasks waits for all of them, or for those that use the first part. */
    enum class Kind : std::uint8_t { task, wait, wait_for_range } kind = Kind::task;
    unsigned seed = 0;
    On on = On::host;
    int priority = 0, device = -1;
    std::vector<Part> parts{};
    std::vector<Work> inside{}; /* what it makes, after it has done its own */
    bool comes_back = false;    /* then it waits for these, and does its own once more */
};

struct Set {
    unsigned bytes = 0;
    std::vector<Work> works{};
};

using Random = std::mt19937_64;
using Bytes = std::vector<unsigned char>;

/* @gpus: how many of them tasks may be for. */
Set make_set(Random &random, unsigned gpus);
Bytes random_bytes(Random &random, unsigned count);

/* @address_of: where the task finds its i-th part, and the distance of its rows, or 0 if that is as in the block. */
template <typename AddressOf> Fold fold_of(const Work &work, AddressOf address_of)
{
    Fold fold{};
    fold.seed = work.seed;
    for (const Part &part : work.parts) {
        const auto [address, pitch] = address_of(fold.count);
        fold.parts[fold.count++] = {static_cast<unsigned char *>(address), part.rows, part.row_bytes,
                                    pitch ? static_cast<unsigned>(pitch) : part.pitch, part.kind()};
    }
    return fold;
}

/* What waits for a range are to find there, in the order in which they come, and then all of memory. */
struct Expected {
    std::vector<Bytes> seen;
    Bytes block;
};
Expected run_in_order(const Set &set, Bytes block);
Bytes content_of(const Part &part, const unsigned char *block);

/* For people, a task a line. */
std::string describe(const Set &set);
/* All sets that have something less. */
std::vector<Set> smaller(const Set &set);

} // namespace test

#endif /* TEST_TASKS_WORK_HPP */
