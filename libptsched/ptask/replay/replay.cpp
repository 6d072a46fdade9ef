// SPDX-License-Identifier: MIT
/* Where a set's blocks are, and how it is given to a device. */
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
/*
 * Where a GPU does not fetch blocks itself, what is less takes longer to begin to be copied than to be copied: it comes
 * before the program, which need not wait.
 */
constexpr std::size_t short_bytes = 32 << 10;
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
