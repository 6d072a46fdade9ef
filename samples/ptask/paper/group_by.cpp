// SPDX-License-Identifier: MIT
/* Sums and maxima of groups of integers, in seven tasks. */
#include "samples/ptask/paper/parameters.h"
#include "samples/ptask/paper/programs.hpp"

#include <algorithm>

namespace ptsched::paper {

Workload group_by(std::size_t count, unsigned keys)
{
    const auto chunk = static_cast<unsigned>(std::min<std::size_t>(4096, count));
    const auto chunks = static_cast<unsigned>(count / chunk);
    const auto groups = constant_of(Groups{static_cast<unsigned>(count), keys, chunk, chunks});
    const Content data = integers(count, 5);
    Workload workload;

    if (!keys || keys > PAPER_MAX_KEYS || count % chunk)
        throw Error("grpby: up to " + std::to_string(PAPER_MAX_KEYS) + " keys and a multiple of " +
                    std::to_string(chunk) + " integers are needed");
    const std::size_t table = std::size_t{chunks} * keys;
    const Geometry thread_for_key{{1, 1, 1}, {keys, 1, 1}};
    ValueId input = workload.input(data);
    ValueId counts = workload.step("count_keys", blocks(chunks), {input}, table, groups);
    ValueId totals = workload.step("total_keys", blocks(keys), {counts}, keys, groups);
    ValueId offsets = workload.step("scan_keys", thread_for_key, {totals}, keys + 1, groups);
    ValueId places = workload.step("place_chunks", over(keys), {counts, offsets}, table, groups);
    ValueId grouped = workload.step("scatter", blocks(chunks), {input, places}, count, groups);
    ValueId sums = workload.step("sum_groups", blocks(keys), {grouped, offsets}, keys);
    ValueId largest = workload.step("largest_of_groups", blocks(keys), {grouped, offsets}, keys);
    workload.name = "grpby/" + std::to_string(count) + "-" + std::to_string(keys);
    workload.results = {offsets, sums, largest};
    workload.expected = [data, keys](unsigned) {
        Content offsets(keys + 1), sums(keys), largest(keys);
        for (std::uint32_t value : data) {
            std::uint32_t key = value % keys;
            offsets[key + 1]++;
            sums[key] += value;
            largest[key] = std::max(largest[key], value);
        }
        for (unsigned key = 0; key < keys; key++)
            offsets[key + 1] += offsets[key];
        return std::vector<Content>{offsets, sums, largest};
    };
    return workload;
}

} // namespace ptsched::paper
