// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/attachment.hpp"

#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/thread.hpp"

#include <algorithm>
#include <cstring>

namespace ptsched::preload {

const std::uint32_t Attachment::open_state = PTSCHED_STATE_TURN;

namespace {

/* In this state every submission is measured. */
constexpr std::uint32_t measuring = PTSCHED_STATE_EXACT;

void copy_name(char (&to)[PTSCHED_NAME_LEN], const char *from)
{
    std::strncpy(to, from, sizeof(to) - 1);
    to[sizeof(to) - 1] = '\0';
}

} // namespace

Attachment::Attachment(unsigned index, CUdevice ordinal, const char *address, const char *name)
    : index_(index), ordinal_(ordinal), state_word_(&open_state)
{
    copy_name(address_, address);
    copy_name(name_, name);
}

void Attachment::become_client(ptsched_client *client, bool shares_channels)
{
    client_ = client;
    page_ = ptsched_client_page(client);
    shares_channels_ = shares_channels;
    if (shares_channels_)
        meter.weigh(ordinal_);
    return_to_word();
}

bool Attachment::leave_word()
{
    const std::uint32_t *word = state_word();
    return word != &open_state && state_word_.compare_exchange_strong(word, &open_state);
}

void Attachment::add_context(Context &context)
{
    std::atomic<Context *> &end = last_context_ ? last_context_->next : first_context_;
    end.store(&context, std::memory_order_release);
    last_context_ = &context;
}

Context *Attachment::any_context() const
{
    Context *context = first_context_.load(std::memory_order_acquire);
    while (context && context->state != Context::alive)
        context = context->next.load(std::memory_order_acquire);
    return context;
}

std::uint64_t Attachment::submissions() const
{
    std::uint64_t total = submissions_.load(std::memory_order_acquire);
    if (index_ >= counted_devices)
        return total;
    for (Thread *thread = first_thread(); thread; thread = thread->next)
        total += thread->submissions[index_].load(std::memory_order_acquire);
    return total;
}

bool Attachment::all_measured(std::uint32_t events, std::uint32_t state)
{
    if (unmeasured_.load(std::memory_order_acquire))
        return false;
    std::uint32_t fenced = fenced_.load(std::memory_order_acquire);
    bool measured = fenced_state_.load(std::memory_order_relaxed) & measuring;
    if (fenced == events)
        return measured || submissions() == fenced_submissions_.load(std::memory_order_relaxed);
    if (events != fenced + 1 || !measured || !(state & measuring))
        return false;
    set_fenced(events, state, 0);
    return true;
}

void Attachment::begin_measured(std::uint32_t events)
{
    std::uint32_t state = this->state();
    if (state & measuring)
        set_fenced(events, state, 0);
}

void Attachment::set_fenced(std::uint32_t events, std::uint32_t state, std::uint64_t submissions)
{
    fenced_submissions_.store(submissions, std::memory_order_relaxed);
    fenced_state_.store(state, std::memory_order_relaxed);
    fenced_.store(events, std::memory_order_release);
}

ptsched_usage Attachment::take_usage(std::uint64_t ended)
{
    ptsched_usage usage{};
    std::uint64_t total = submissions();
    std::uint64_t before = reported_submissions_.exchange(total, std::memory_order_relaxed);
    usage.submissions =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(total > before ? total - before : 0, UINT32_MAX));
    usage.gpu_ns = meter.take_gpu_ns(ended);
    counters.gpu_ns.fetch_add(usage.gpu_ns, std::memory_order_relaxed);
    turn_gpu_ns_.fetch_add(usage.gpu_ns, std::memory_order_relaxed);
    return usage;
}

void Attachment::report(std::uint64_t now, std::uint64_t interval_ns)
{
    std::uint64_t before = reported_ns_.load(std::memory_order_relaxed);
    /* Without the turn it would be lost: a thread may have been submitting when that was given back. */
    if (!(state() & PTSCHED_STATE_TURN) || now - before < interval_ns ||
        !reported_ns_.compare_exchange_strong(before, now))
        return;
    ptsched_usage usage = take_usage(0);
    ptsched_report(client_, &usage);
}

void Attachment::report_rest(std::uint64_t submissions)
{
    ptsched_usage usage = take_usage(submissions);
    ptsched_report(client_, &usage);
}

void Attachment::report_end(std::uint64_t now)
{
    /* Before the look at what is in flight: a thread may still submit. */
    std::uint64_t submissions = this->submissions();
    meter.reap(now);
    report_rest(meter.idle() ? submissions : 0);
}

} // namespace ptsched::preload
