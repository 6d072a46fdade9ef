// SPDX-License-Identifier: MIT
/* How a replay's program is made: the uploads, the subgraph's steps that wait for them, and the downloads. */
#include "libptsched/ptask/replay/replay.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

using device::Address;

/* Blocks that are no longer than this a GPU fetches itself, several at once. */
constexpr std::size_t short_block_bytes = 512 << 10;
/* What a GPU moves itself it moves so much of at a time: others need only some. */
constexpr std::size_t group_bytes = 2 << 20;
/*
 * Results it copies to the host itself, if there are so many that are no longer than this: in a CUDA graph a copy
 * engine takes 5 us to begin with the next. A GPU's multiprocessors need a twentieth more for the copy, and have other
 * work.
 */
constexpr std::size_t longest_scattered = 1 << 20;
constexpr std::ptrdiff_t fewest_scattered = 8;

bool may_be_scattered(const Subgraph &subgraph, std::size_t output)
{
    return subgraph.buffers[subgraph.outputs[output].buffer].bytes <= longest_scattered;
}

} // namespace

bool Replay::is_short(const Subgraph &subgraph, const SubgraphInput &input)
{
    return subgraph.buffers[input.buffer].bytes <= short_block_bytes;
}

/* Inputs that are always copied from the host, those that are needed first before the others. */
void Replay::order_uploads()
{
    auto first_user = [&](std::size_t i) { return subgraph_.buffers[subgraph_.inputs[i].buffer].users.front(); };
    upload_order_.clear();
    own_copies_.clear();
    for (std::size_t i = 0; i < uploads_.size(); i++)
        if (uploads_[i].in_program)
            upload_order_.push_back(i);
    std::ranges::stable_sort(upload_order_, {}, first_user);
    for (std::size_t position = 0; position < upload_order_.size(); position++) {
        Upload &upload = uploads_[upload_order_[position]];
        upload.position = position;
        upload.way = 0;
        upload.step.reset();
        if (!may_gather(upload_order_[position]))
            own_copies_.push_back(upload_order_[position]);
    }
}

/* What comes from the host, then the subgraph's steps, with the copies to the host of what they write. */
void Replay::make(const Blocks &fixed)
{
    std::vector<device::ProgramStep> steps;

    order_uploads();
    make_gathers(steps);
    std::vector<LastUploads> needed = last_uploads();
    const auto awaited = awaited_uploads(needed);
    const std::vector<std::size_t> in_order = download_order(needed);
    scatters_ = most_pieces_ && are_many(in_order);
    const std::vector<Download> downloads = plan_downloads(in_order);
    auto next = downloads.begin();
    scattered_.clear();
    std::ranges::fill(copies_, std::nullopt);
    last_copy_.reset();
    for (std::size_t i = 0; i < subgraph_.steps.size(); i++) {
        make_step(steps, i, awaited[i], fixed);
        for (; next != downloads.end() && next->after <= i; ++next)
            make_download(steps, *next);
    }
    program_ = device_.make_program(steps);
}

/* Outputs that are copied to the host: what needs no more of the uploads than others is there before them. */
std::vector<std::size_t> Replay::download_order(const std::vector<LastUploads> &needed) const
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < outputs_.size(); i++)
        if (!for_results_ && is_copied(i))
            order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const std::size_t writer = subgraph_.outputs[i].writer;
        return std::pair(std::ranges::max(needed[writer]), writer);
    });
    return order;
}

/* Those that are scattered, in groups. */
std::vector<Replay::Download> Replay::plan_downloads(const std::vector<std::size_t> &in_order) const
{
    std::vector<Download> downloads;
    std::optional<std::size_t> open; /* a group */
    for (std::size_t output : in_order) {
        const std::size_t bytes = subgraph_.buffers[subgraph_.outputs[output].buffer].bytes;
        if (!is_scattered(output) || !open || is_full(downloads[*open].outputs.size(), downloads[*open].bytes, bytes)) {
            if (is_scattered(output))
                open = downloads.size();
            downloads.push_back({});
        }
        Download &download = is_scattered(output) ? downloads[*open] : downloads.back();
        download.outputs.push_back(output);
        download.bytes += bytes;
        download.after = std::max(download.after, subgraph_.outputs[output].writer);
    }
    return downloads;
}

/*
 * By step of the subgraph: the last of the uploads that it needs, before which the others come; an input that often has
 * the same block as another needs that one's.
 */
std::vector<Replay::LastUploads> Replay::last_uploads() const
{
    std::vector<LastUploads> last(subgraph_.steps.size());
    for (std::size_t i = 0; i < uploads_.size(); i++)
        for (std::size_t step : subgraph_.buffers[subgraph_.inputs[i].buffer].users)
            for (std::size_t other : {i, first_[i]})
                if (const Upload &upload = uploads_[other]; upload.in_program) {
                    auto &known = last[step][upload.way];
                    known = std::max(known, std::optional(upload.position));
                }
    return last;
}

/*
 * By step of the subgraph: the inputs for which it waits itself, since nothing that it comes after does. Then @needed
 * says what each needs by way of those before it, too.
 */
std::vector<std::vector<std::size_t>> Replay::awaited_uploads(std::vector<LastUploads> &needed)
{
    std::vector<std::vector<std::size_t>> awaited(subgraph_.steps.size());
    for (std::size_t i = 0; i < awaited.size(); i++)
        for (std::size_t kind = 0; kind < needed[i].size(); kind++) {
            std::optional<std::size_t> known;
            for (std::size_t before : subgraph_.steps[i].after)
                known = std::max(known, needed[before][kind]);
            if (needed[i][kind] <= known) {
                needed[i][kind] = known;
                continue;
            }
            awaited[i].push_back(upload_order_[*needed[i][kind]]);
        }
    return awaited;
}

bool Replay::may_gather(std::size_t input) const
{
    return most_pieces_ && is_short(subgraph_, subgraph_.inputs[input]);
}

bool Replay::are_many(const std::vector<std::size_t> &downloads) const
{
    return fewest_scattered <=
           std::ranges::count_if(downloads, [this](std::size_t output) { return may_be_scattered(subgraph_, output); });
}

bool Replay::is_scattered(std::size_t output) const
{
    return scatters_ && may_be_scattered(subgraph_, output);
}

bool Replay::is_full(std::size_t members, std::size_t bytes, std::size_t more) const
{
    return members == most_pieces_ || bytes + more > group_bytes;
}

void Replay::make_gathers(std::vector<device::ProgramStep> &steps)
{
    gathered_.clear();
    for (std::size_t input : upload_order_)
        if (may_gather(input))
            gather(steps, input);
    for (Group &group : gathered_)
        steps[group.step].pieces = inputs_of(group);
}

/* With the last ones, if there is room. The first are to be there first, as they share a bus. */
void Replay::gather(std::vector<device::ProgramStep> &steps, std::size_t input)
{
    const std::size_t bytes = subgraph_.buffers[subgraph_.inputs[input].buffer].bytes;
    if (gathered_.empty() || is_full(gathered_.back().members.size(), gathered_.back().bytes, bytes)) {
        device::ProgramStep &made = steps.emplace_back();
        if (gathered_.size() >= gathers_at_once)
            made.after = {gathered_[gathered_.size() - gathers_at_once].step};
        gathered_.push_back({.step = steps.size() - 1});
    }
    Group &group = gathered_.back();
    group.members.push_back(input);
    group.bytes += bytes;
    uploads_[input].step = group.step;
    uploads_[input].position = uploads_[group.members.front()].position;
    uploads_[input].way = 1 + (gathered_.size() - 1) % gathers_at_once;
}

const std::vector<device::Piece> &Replay::inputs_of(Group &group) const
{
    group.pieces.clear();
    for (std::size_t input : group.members) {
        const std::size_t buffer = subgraph_.inputs[input].buffer;
        group.pieces.push_back(
            {bound_[buffer], reinterpret_cast<Address>(uploads_[input].from), subgraph_.buffers[buffer].bytes});
    }
    return group.pieces;
}

const std::vector<device::Piece> &Replay::outputs_of(Group &group) const
{
    group.pieces.clear();
    for (std::size_t output : group.members) {
        const std::size_t buffer = subgraph_.outputs[output].buffer;
        group.pieces.push_back({outputs_[output]->host_address(), bound_[buffer], subgraph_.buffers[buffer].bytes});
    }
    return group.pieces;
}

void Replay::make_step(std::vector<device::ProgramStep> &steps, std::size_t which,
                       const std::vector<std::size_t> &awaited, const Blocks &fixed)
{
    const SubgraphStep &step = subgraph_.steps[which];
    std::vector<std::size_t> after;
    for (std::size_t input : awaited) {
        Upload &upload = uploads_[input];
        if (!upload.step) {
            upload.step = steps.size();
            steps.push_back({.waits = true});
        }
        after.push_back(*upload.step);
    }
    for (std::size_t other : step.after)
        after.push_back(step_index_[other]);
    step_index_[which] = steps.size();
    device::ProgramStep &made = steps.emplace_back();
    made.after = std::move(after);
    if (step.task) {
        made.code = step.task->codes_[which_].get();
        made.geometry = step.task->geometry_;
        made.arguments = arguments_of(step, fixed);
    } else {
        made.to = bound_[step.to];
        made.from = bound_[step.from];
        made.bytes = subgraph_.buffers[step.to].bytes;
    }
}

/* Copies share a way, and branches of a program take longer. */
void Replay::make_download(std::vector<device::ProgramStep> &steps, const Download &download)
{
    const std::size_t output = download.outputs.front();
    if (is_scattered(output)) {
        scatter(steps, download);
        return;
    }
    const SubgraphOutput &from = subgraph_.outputs[output];
    copies_[output] = steps.size();
    steps.push_back({.to = outputs_[output]->host_address(),
                     .from = bound_[from.buffer],
                     .to_host = true,
                     .bytes = subgraph_.buffers[from.buffer].bytes,
                     .after = {step_index_[from.writer]}});
    if (last_copy_)
        steps.back().after.push_back(*last_copy_);
    last_copy_ = copies_[output];
}

void Replay::scatter(std::vector<device::ProgramStep> &steps, const Download &download)
{
    Group &group = scattered_.emplace_back(Group{.step = steps.size(), .members = download.outputs});
    std::vector<std::size_t> after;
    for (std::size_t output : download.outputs)
        after.push_back(step_index_[subgraph_.outputs[output].writer]);
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    steps.push_back({.pieces = outputs_of(group), .after = std::move(after)});
}

} // namespace ptsched::ptask
