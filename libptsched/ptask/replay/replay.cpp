// SPDX-License-Identifier: MIT
#include "libptsched/ptask/replay/replay.hpp"

#include "libptsched/ptask/devices/graph_devices.hpp"

#include <algorithm>
#include <functional>
#include <ranges>
#include <unordered_map>

namespace ptsched::ptask {

namespace {

using device::Access;
using device::Address;

constexpr unsigned most_unread = 16, most_needed = 1 << 20;
constexpr std::size_t no_buffer = static_cast<std::size_t>(-1);
/* Where a GPU does not fetch blocks itself, what is less takes longer to begin to be copied than to be copied: it comes
 * before the program, which need not wait. */
constexpr std::size_t short_bytes = 32 << 10;
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

bool is_short(const Subgraph &subgraph, const SubgraphInput &input)
{
    return subgraph.buffers[input.buffer].bytes <= short_block_bytes;
}

bool has_been_read(const Channel *channel)
{
    return channel->reads && channel->reads->load(std::memory_order_relaxed);
}

/* What came with earlier sets, in their order: with the last one, all of them have ended. */
template <typename List> void drop_ended(List &list, bool all)
{
    const auto has_ended = [](const auto &pair) { return pair.first->reached(); };
    list.erase(list.begin(), all ? list.end() : std::ranges::find_if_not(list, has_ended));
}

bool may_be_scattered(const Subgraph &subgraph, std::size_t output)
{
    return subgraph.buffers[subgraph.outputs[output].buffer].bytes <= longest_scattered;
}

} // namespace

Replay::Replay(const Subgraph &subgraph, device::Device &device, std::size_t which, Results results,
               const Replay *other)
    : subgraph_(subgraph), device_(device), which_(which), results_(results), most_pieces_(device.most_pieces()),
      outputs_(subgraph.outputs.size()), on_host_(subgraph.outputs.size()), bound_(subgraph.buffers.size()),
      wanted_(subgraph.buffers.size()), fixed_(subgraph.fixed.size()), unread_(subgraph.outputs.size()),
      dirty_(subgraph.steps.size()), step_index_(subgraph.steps.size()), copies_(subgraph.outputs.size()),
      uploads_(subgraph.inputs.size())
{
    for (std::size_t i = 0; other && i < uploads_.size(); i++) {
        const Upload &known = other->uploads_[i];
        uploads_[i] = {.in_program = known.in_program, .from_host = known.from_host, .needed = known.needed};
    }
}

Replay::~Replay()
{
    forget_ahead();
    if (marker_)
        settle(*marker_);
}

std::size_t Replay::bytes(const Subgraph &subgraph)
{
    std::size_t bytes = subgraph.inside_bytes;
    for (const SubgraphOutput &output : subgraph.outputs)
        bytes += subgraph.buffers[output.buffer].bytes;
    return bytes;
}

bool Replay::may_go_ahead(const Subgraph &subgraph)
{
    return subgraph.inputs.size() > 1 &&
           std::any_of(subgraph.inputs.begin(), subgraph.inputs.end(),
                       [&subgraph](const SubgraphInput &input) { return !is_short(subgraph, input); });
}

bool Replay::is_idle() const
{
    for (const DatablockPtr &block : outputs_)
        if (block && !is_held_by(block, 1))
            return false;
    return has_ended();
}

/* @missing: bytes of it. */
void Replay::use(Datablock &block, std::size_t missing, std::size_t buffer)
{
    if (missing) {
        const bool elsewhere = is_on_other(block, device_);
        (elsewhere ? moved_.migrated_blocks : moved_.uploaded_blocks)++;
        (elsewhere ? moved_.migrated_bytes : moved_.uploaded_bytes) += missing;
    }
    items_.push_back(Access::reads(block));
    item_buffers_.push_back(buffer);
}

/* Which inputs have the same block, as long as nobody has looked. What the subgraph changes is a copy of its own. */
void Replay::learn(const Blocks &inputs)
{
    std::unordered_map<const Datablock *, std::size_t> seen;
    for (std::size_t i = 0; i < inputs.size(); i++)
        first_.push_back(subgraph_.inputs[i].is_filled ? i : seen.try_emplace(inputs[i].get(), i).first->second);
}

/* The next set gets another one. It may still run, and its events are used again when it goes. */
void Replay::retire_program()
{
    if (program_ && marker_ && !marker_->reached())
        retired_.emplace_back(marker_, std::move(program_));
    program_.reset();
}

/* The program changes when an input comes from elsewhere than so far. */
void Replay::keep_uploads(std::size_t i, bool from_host)
{
    Upload &upload = uploads_[i];
    if (subgraph_.inputs[i].is_filled ||
        (subgraph_.buffers[subgraph_.inputs[i].buffer].bytes < short_bytes && !may_gather(i)))
        return;
    upload.from_host = from_host ? upload.from_host + 1 : 0;
    if (upload.in_program == (upload.from_host > upload.needed))
        return;
    if (upload.in_program && upload.needed < most_needed)
        upload.needed *= 4;
    upload.in_program = !upload.in_program;
    retire_program();
}

/* What is on the host only and may not be needed again, the set copies for itself. */
void Replay::plan_input(const Blocks &inputs, std::size_t i)
{
    const SubgraphInput &input = subgraph_.inputs[i];
    Datablock &block = *inputs[i];

    if (first_[i] != i && inputs[first_[i]].get() == &block) {
        keep_uploads(i, false);
        return;
    }
    const Datablock::Missing missing =
        uploads_[i].ahead ? Datablock::Missing{block.bytes(), uploads_[i].from} : block.first_use(device_);
    const void *from = missing.on_host;
    keep_uploads(i, from);
    if (from) {
        moved_.uploaded_blocks++;
        moved_.uploaded_bytes += block.bytes();
        if (uploads_[i].in_program)
            uploads_[i].from = from;
        else
            fills_.push_back({input.buffer, from, 0, block.bytes()});
    } else if (input.is_filled) {
        fills_.push_back({input.buffer, nullptr, items_.size(), block.bytes()});
        use(block, missing.bytes, no_buffer);
    } else {
        use(block, missing.bytes, input.buffer);
    }
}

void Replay::plan(const ReplaySet &set)
{
    moved_ = {};
    items_.clear();
    item_buffers_.clear();
    fills_.clear();
    drop_ended(written_, is_free_);
    drop_ended(retired_, is_free_);
    if (!inside_)
        inside_ = Datablock::scratch(std::max<std::size_t>(subgraph_.inside_bytes, 1));
    items_.push_back(Access::renews(*inside_));
    item_buffers_.push_back(no_buffer);
    for (std::size_t i = 0; i < outputs_.size(); i++) {
        const SubgraphOutput &output = subgraph_.outputs[i];
        if (outputs_[i] && !is_held_by(outputs_[i], 1))
            let_go(outputs_[i]);
        if (!outputs_[i])
            outputs_[i] = Datablock::empty(subgraph_.buffers[output.buffer].bytes);
        items_.push_back(is_there_alone(i) ? Access::renews_on_host(*outputs_[i])
                                           : Access::renews(*outputs_[i], on_host_[i]));
        item_buffers_.push_back(output.buffer);
        if (is_copied(i))
            moved_.downloaded_bytes += outputs_[i]->bytes();
    }
    if (first_.empty())
        learn(set.inputs);
    for (std::size_t i = 0; i < set.inputs.size(); i++)
        plan_input(set.inputs, i);
    for (std::size_t i = 0; i < set.fixed.size(); i++)
        if (subgraph_.fixed[i].buffer)
            use(*set.fixed[i], set.fixed[i]->missing(device_), *subgraph_.fixed[i].buffer);
}

/* One that has its last set yet stays with its queue, unless others are to be free. */
void Replay::use_queues(SetQueue &queue, device::Queue *for_results)
{
    if (!is_free_ && for_results && queue_ != &queue)
        queue.queue->after(marker_);
    if (is_free_ || for_results)
        queue_ = &queue;
    if (!for_results != !for_results_)
        retire_program();
    for_results_ = for_results;
}

void Replay::launch(const ReplaySet &set, SetQueue &queue, device::Queue *for_results, bool is_watched)
{
    std::optional<Access> access;
    try {
        is_free_ = has_ended();
        use_queues(queue, for_results);
        if (on_host_ != set.on_host) {
            retire_program();
            on_host_ = set.on_host;
        }
        plan(set);
        addresses_.resize(items_.size());
        access.emplace(device_, its_queue(), items_, addresses_.data());
        if (ahead_.inputs && inside_->evictions() != ahead_.evictions)
            forget_ahead();
        lay_out(set.inputs);
        start(set, is_watched);
        access->given(marker_, for_results_);
    } catch (...) {
        /* What was given comes before others can have the memory. */
        for (device::Queue *used : {&its_queue(), for_results_, incoming_})
            if (used)
                settle(*used);
        access.reset();
        forget();
        throw;
    }
}

bool Replay::is_there_alone(std::size_t output) const
{
    return results_ == Results::there_alone && on_host_[output] && subgraph_.outputs[output].may_be_there;
}

bool Replay::is_copied(std::size_t output) const
{
    return on_host_[output] && !is_there_alone(output);
}

/*
 * One that is copied to the host for nothing many times is so no more. Where there are more sets than replays, nobody
 * has read a replay's last one yet; the channel knows of others.
 */
bool Replay::note_readers(std::vector<bool> &on_host)
{
    bool changed = false;
    for (std::size_t i = 0; i < outputs_.size(); i++) {
        if (!outputs_[i])
            continue;
        const bool read = outputs_[i]->was_read() || std::ranges::any_of(subgraph_.outputs[i].channels, has_been_read);
        unread_[i] = read ? 0 : unread_[i] + 1;
        if (on_host[i] != read && (read || (unread_[i] >= most_unread && !subgraph_.outputs[i].for_host))) {
            on_host[i] = read;
            changed = true;
        }
    }
    return changed;
}

/* Where everything is for this set; who must know of what has moved is dirty. */
void Replay::lay_out(const Blocks &inputs)
{
    const Address base = addresses_[0];
    for (std::size_t i = 0; i < subgraph_.buffers.size(); i++)
        wanted_[i] = base + subgraph_.buffers[i].offset;
    for (std::size_t i = 0; i < items_.size(); i++)
        if (item_buffers_[i] != no_buffer)
            wanted_[item_buffers_[i]] = addresses_[i];
    for (std::size_t i = 0; i < inputs.size(); i++)
        if (first_[i] != i && inputs[first_[i]] == inputs[i])
            wanted_[subgraph_.inputs[i].buffer] = wanted_[subgraph_.inputs[first_[i]].buffer];
    for (std::size_t i = 0; i < wanted_.size(); i++)
        if (bound_[i] != wanted_[i]) {
            bound_[i] = wanted_[i];
            for (std::size_t step : subgraph_.buffers[i].users)
                touch(step);
        }
}

void Replay::touch(std::size_t step)
{
    if (!dirty_[step])
        dirty_steps_.push_back(step);
    dirty_[step] = true;
}

std::vector<void *> &Replay::arguments_of(const SubgraphStep &step, const Blocks &fixed)
{
    arguments_.clear();
    for (const SubgraphStep::Argument &argument : step.arguments)
        arguments_.push_back(argument.by_value ? const_cast<void *>(fixed[argument.what]->read())
                                               : static_cast<void *>(&bound_[argument.what]));
    return arguments_;
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

/* By step of the subgraph: the last of the uploads that it needs, before which the others come; an input that often has
 * the same block as another needs that one's. */
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

void Replay::update(const Blocks &fixed)
{
    for (std::size_t i : dirty_steps_) {
        const SubgraphStep &step = subgraph_.steps[i];
        if (step.task)
            program_->set_kernel(step_index_[i], arguments_of(step, fixed));
        else
            program_->set_copy(step_index_[i], bound_[step.to], bound_[step.from]);
    }
    if (!is_free_)
        if (auto pieces = program_->renew_pieces())
            retired_.emplace_back(marker_, std::move(pieces));
    for (Group &group : gathered_)
        program_->set_pieces(group.step, inputs_of(group));
    for (Group &group : scattered_)
        program_->set_pieces(group.step, outputs_of(group));
    for (std::size_t i = 0; i < outputs_.size(); i++)
        if (copies_[i])
            program_->set_copy(*copies_[i], outputs_[i]->host_address(), bound_[subgraph_.outputs[i].buffer]);
}

device::Queue &Replay::incoming()
{
    if (!incoming_)
        incoming_ = &device_.incoming();
    return *incoming_;
}

void Replay::give_upload(std::size_t input, Address to, device::Queue &queue)
{
    const Upload &upload = uploads_[input];
    queue.upload(to, upload.from, subgraph_.buffers[subgraph_.inputs[input].buffer].bytes);
    if (&queue != &its_queue() && upload.step)
        queue.signal(*program_, *upload.step);
}

/*
 * The copies that the program waits for. If it does not use the memory now, they begin at once. They are not the
 * program's own, which has to be the same each time: one that has changed takes a driver as long as it has steps.
 */
void Replay::give_uploads()
{
    for (; ahead_.inputs < own_copies_.size(); ahead_.inputs++) {
        const std::size_t input = own_copies_[ahead_.inputs];
        give_upload(input, bound_[subgraph_.inputs[input].buffer], is_free_ ? incoming() : its_queue());
    }
    for (std::size_t input : own_copies_)
        uploads_[input].ahead.reset();
    ahead_ = {};
}

/*
 * In the order in which they are always given, for which the program waits. Who evicts the memory waits for the copy;
 * the set does not, which waits for those that a step needs.
 */
void Replay::go_ahead(const DatablockPtr &block)
{
    const std::size_t input = own_copies_[ahead_.inputs];
    const Access::Item inside = Access::reads(*inside_);
    Address base = 0;

    ahead_.over = true;
    if (inside_->missing(device_))
        return;
    uploads_[input].from = block->first_use(device_).on_host;
    if (!uploads_[input].from)
        return;
    uploads_[input].ahead = block;
    Access access(device_, incoming(), {&inside, 1}, &base);
    if (!ahead_.inputs)
        ahead_.evictions = inside_->evictions();
    give_upload(input, base + subgraph_.buffers[subgraph_.inputs[input].buffer].offset, incoming());
    access.given(incoming().mark_for_later());
    ahead_.inputs++;
    ahead_.over = false;
}

void Replay::forget_ahead() noexcept
{
    if (incoming_ && (ahead_.inputs || ahead_.over))
        settle(*incoming_);
    for (Upload &upload : uploads_)
        upload.ahead.reset();
    ahead_ = {};
}

/* The queue gets what fills the buffers, and the program. */
void Replay::start(const ReplaySet &set, bool is_watched)
{
    const Blocks &fixed = set.fixed;
    for (std::size_t i = 0; changes_ != set.changes && i < fixed.size(); i++)
        if (fixed[i] != fixed_[i]) {
            fixed_[i] = fixed[i];
            for (std::size_t step : subgraph_.fixed[i].users)
                touch(step);
        }
    changes_ = set.changes;
    was_made_ = !program_;
    if (was_made_) {
        forget_ahead();
        make(fixed);
    } else
        update(fixed);
    for (std::size_t step : dirty_steps_)
        dirty_[step] = false;
    dirty_steps_.clear();
    device::Queue &queue = its_queue();
    watch_ = is_watched && !was_made_ ? queue.watch() : nullptr;
    for (const Fill &fill : fills_) {
        const Address to = bound_[fill.buffer];
        if (fill.from_host)
            queue.upload(to, fill.from_host, fill.bytes);
        else
            queue.copy(to, device_, addresses_[fill.item], fill.bytes);
    }
    give_uploads();
    queue.run(*program_);
    if (watch_)
        watch_->stop();
    marker_ = for_results_ ? copy_results() : mark(set.may_share_marker);
}

/* Who reads results on the host is not to wait for the next sets. */
device::MarkerPtr Replay::mark(bool may_share)
{
    const bool is_read = std::ranges::any_of(on_host_, std::identity());
    return may_share && !is_read ? its_queue().mark_for_later() : its_queue().mark();
}

device::MarkerPtr Replay::copy_results()
{
    for_results_->after(its_queue().mark());
    for (std::size_t i = 0; i < outputs_.size(); i++)
        if (is_copied(i)) {
            const std::size_t buffer = subgraph_.outputs[i].buffer;
            for_results_->download(device::host_pointer(outputs_[i]->host_address()), bound_[buffer],
                                   subgraph_.buffers[buffer].bytes);
        }
    return for_results_->mark();
}

void Replay::passed_on()
{
    for (std::size_t i = 0; i < outputs_.size(); i++)
        if (!subgraph_.outputs[i].is_kept)
            let_go(outputs_[i]);
}

/* Others have it; but it must not go before it is written. */
void Replay::let_go(DatablockPtr &block)
{
    written_.emplace_back(marker_, std::move(block));
    block.reset();
}

/* When its queues have done what they had: that may write to what is given back. */
void Replay::forget() noexcept
{
    forget_ahead();
    program_.reset();
    retired_.clear();
    inside_.reset();
    outputs_.assign(outputs_.size(), nullptr);
    changes_ = 0;
    fixed_.assign(fixed_.size(), nullptr);
    std::fill(bound_.begin(), bound_.end(), 0);
    dirty_.assign(dirty_.size(), false);
    dirty_steps_.clear();
}

} // namespace ptsched::ptask
