// SPDX-License-Identifier: MIT
// What of a graph's work has ended.
#include "scheduler.hpp"

#include <utility>

namespace ptsched::ptask {

/* What a run has written is there, and can be given on. */
void Scheduler::ended(Run &run)
{
    run.done = true;
    if (run.late)
        flush(*run.task);
    else
        complete(run);
}

/* Runs give on what they have in the order in which they began. */
void Scheduler::flush(Task &task)
{
    while (!task.undelivered_.empty() && task.undelivered_.front()->done) {
        Run &run = *task.undelivered_.pop_front();
        deliver(run);
        complete(run);
    }
}

void Scheduler::complete(Run &run)
{
    Task &task = *run.task;
    task.running_--;
    task.completed_++;
    running_--;
    run.end();
    spare_.push_back(&run);
    /* Of the room that was promised some may not have been used. */
    if (task.again_)
        look_at(task);
}

/* Takes note of what has ended; false if nothing had. */
bool Scheduler::poll()
{
    bool any = poll_fetches();

    unpolled_ = 0;
    for (const auto &place : places_.all)
        for (const auto &lane : place->lanes)
            any = poll(*lane) || any;
    return any;
}

bool Scheduler::poll(Lane &lane)
{
    bool any = false;
    while (!lane.runs.empty() && failure_.empty()) {
        Run &run = *lane.runs.front();
        try {
            if (run.copied && run.copied->reached()) {
                timeline_->moved(run, Clock::now());
                run.copied.reset();
            }
            if (!run.marker->reached())
                break;
            left(run, !any);
            any = true;
        } catch (const std::exception &error) {
            fail(*run.task, error.what());
        }
    }
    return any;
}

/* A run is no longer in its queue, the first of those that were found together. */
void Scheduler::left(Run &run, bool first)
{
    if (first)
        now_ = Clock::now();
    if (run.copied)
        timeline_->moved(run, now_);
    if (timeline_)
        timeline_->ran(run, now_);
    places_.end(run, now_, due_[!run.task->on_host_]);
    /* Whether a loop goes on is read on the host. */
    if (const Port *again = run.task->again_)
        if (Fetch started = fetch(*run.held[again->index()])) {
            started.run = &run;
            fetches_.push_back(std::move(started));
            return;
        }
    ended(run);
}

bool Scheduler::poll_fetches()
{
    bool any = false;
    for (std::size_t i = 0; i < fetches_.size() && failure_.empty();) {
        const Fetch fetch = fetches_[i];
        const Task &task = fetch.run ? *fetch.run->task : fetch.channel->destination->task_;
        try {
            if (!fetch.marker->reached()) {
                i++;
                continue;
            }
            fetches_.erase(fetches_.begin() + static_cast<std::ptrdiff_t>(i));
            any = true;
            if (timeline_)
                timeline_->fetched(*fetch.from, task, fetch.bytes, fetch.began, Clock::now());
            arrived(fetch);
        } catch (const std::exception &error) {
            fail(task, error.what());
        }
    }
    return any;
}

void Scheduler::arrived(const Fetch &fetch)
{
    if (fetch.run) {
        ended(*fetch.run);
        return;
    }
    /* They come in the order of the channel. */
    Ring<Token> &tokens = fetch.channel->tokens;
    for (std::size_t i = 0; i < tokens.size(); i++)
        if (!std::exchange(tokens[i].here, true))
            break;
    look_at(fetch.channel->destination->task_);
}

} // namespace ptsched::ptask
