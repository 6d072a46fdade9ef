// SPDX-License-Identifier: MIT
#include "libptsched/tasks/checked/checker.hpp"

#include <ptsched/device/log.hpp>

namespace ptsched::tasks {

namespace {

/* Pages are closed for all of a process: one task of all its runtimes runs at a time. */
Mutex alone;

thread_local Checker::Run *running = nullptr;

std::string declared_by(const Task &task)
{
    std::string text;
    for (const Access &access : task.declared())
        text += (text.empty() ? "" : "; ") + std::string(to_string(access.mode)) + " " + describe(access.range);
    return text.empty() ? "nothing" : text;
}

/* A reduction has copies of its own, but for a task that may run on a GPU. */
bool may_write(const Task &task, const Access &access)
{
    return writes(access.mode) && !is_weak(access.mode) && (access.mode != Mode::reduction || task.runs_on_gpu);
}

} // namespace

Checker::Run::Run(Checker *checker, const Task &task) : checker_(checker), task_(task)
{
    if (!checker_)
        return;
    before_ = std::exchange(running, this);
    begin();
}

Checker::Run::~Run()
{
    if (!checker_)
        return;
    end();
    running = before_;
}

/* Where there is no memory for it, the task runs without. */
void Checker::Run::begin() noexcept PTSCHED_NO_THREAD_SAFETY_ANALYSIS
{
    alone.lock();
    try {
        checker_->settle_();
        watch_.emplace(checker_->watched_for(task_));
    } catch (const std::exception &error) {
        device::log_line("tasks: " + describe(task_) + " is not checked: " + error.what());
    }
}

void Checker::Run::end() noexcept PTSCHED_NO_THREAD_SAFETY_ANALYSIS
{
    try {
        if (watch_)
            checker_->report(task_, watch_->end());
        watch_.reset();
    } catch (const std::bad_alloc &) {
        watch_.reset();
    }
    alone.unlock();
}

Checker::Pause::Pause(bool pauses) : run_(pauses ? std::exchange(running, nullptr) : nullptr)
{
    if (run_)
        run_->end();
}

Checker::Pause::~Pause()
{
    if (!run_)
        return;
    running = run_;
    run_->begin();
}

Checker::Serving::Serving() PTSCHED_NO_THREAD_SAFETY_ANALYSIS : may_(alone.try_lock()) {}

Checker::Serving::~Serving() PTSCHED_NO_THREAD_SAFETY_ANALYSIS
{
    if (may_)
        alone.unlock();
}

void Checker::declare(const Task &task)
{
    Guard lock(mutex_);
    if (task.parent)
        if (std::string found = known_.hides(task); !found.empty())
            add_finding(std::move(found));
    known_.declare(task);
}

void Checker::ended_inside(std::uint64_t number)
{
    Guard lock(mutex_);
    known_.forget(number);
}

void Checker::ended_inside(std::uint64_t number, const Range &range)
{
    Guard lock(mutex_);
    known_.forget(number, range);
}

void *Checker::allocate(std::size_t bytes)
{
    Guarded array(bytes);
    void *const data = array.data();
    Guard lock(mutex_);
    known_.add_array(std::move(array));
    return data;
}

void Checker::add_managed(void *array, std::size_t bytes)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(array);
    Guard lock(mutex_);
    known_.add_managed({begin, begin + bytes});
}

/* Not while it may be closed: there would be other memory when it is opened. */
bool Checker::release(void *memory) noexcept
{
    Guard lock(mutex_);
    if (!is_watching_ || !known_.has_array(memory))
        return known_.remove_array(memory);
    released_.push_back(memory);
    return true;
}

/* What shares a page with what may be written, or with what nobody knows, is compared. */
Watched Checker::watched_for(const Task &task)
{
    ByteSet written, read;
    for (const Access &access : task.declared()) {
        if (may_write(task, access))
            written.add(access.range);
        else if (access.mode == Mode::in)
            read.add(access.range);
    }
    written.sort();
    read.sort();
    Guard lock(mutex_);
    is_watching_ = true;
    const ByteSet unwritten = known_.pages().without(written.touched_pages()), read_pages = read.touched_pages();
    Watched watched;
    watched.closed = unwritten.without(read_pages);
    watched.to_read = unwritten.within(read_pages);
    watched.kept = known_.bytes().without(written).without(unwritten);
    watched.guards = known_.guards();
    return watched;
}

void Checker::report(const Task &task, const std::vector<Watch::Touch> &touches)
{
    Guard lock(mutex_);
    is_watching_ = false;
    for (std::size_t i = 0; i < touches.size(); i++) {
        if (i < most_of_a_task)
            add_finding(text(task, touches[i]));
        else
            more_findings_++;
    }
    for (void *memory : std::exchange(released_, {}))
        known_.remove_array(memory);
}

std::string Checker::text(const Task &task, const Watch::Touch &touch) const
{
    const Range range{reinterpret_cast<std::byte *>(touch.begin), touch.end - touch.begin, 1, 0};
    const std::string where = describe(range).substr(0, describe(range).find(','));
    std::string text = describe(task) + (touch.is_write ? " writes " : " reads ");
    if (range.bytes())
        text += std::to_string(range.bytes()) + (range.bytes() == 1 ? " byte " : " bytes ");
    return text + "at " + where + known_.whose(touch.begin, task) + "; it has declared " + declared_by(task);
}

void Checker::add_finding(std::string text)
{
    if (findings_.size() < most_findings)
        findings_.push_back(std::move(text));
    else
        more_findings_++;
}

void Checker::begin_on_gpu(const Task &task) noexcept
try {
    ByteSet written;
    for (const Access &access : task.declared())
        if (writes(access.mode))
            written.add(access.range);
    written.sort();
    Watched watched;
    {
        Guard lock(mutex_);
        watched.kept = known_.managed().without(written);
    }
    on_gpu_.emplace(std::move(watched));
} catch (const std::bad_alloc &error) {
    device::log_line("tasks: " + describe(task) + " is not checked: " + error.what());
}

void Checker::end_on_gpu(const Task &task)
{
    if (!on_gpu_)
        return;
    const auto touches = on_gpu_->end();
    on_gpu_.reset();
    report(task, touches);
}

std::string Checker::take_findings()
{
    Guard lock(mutex_);
    std::string text;
    for (const std::string &finding : std::exchange(findings_, {}))
        text += (text.empty() ? "" : "\n") + finding;
    if (const std::size_t more = std::exchange(more_findings_, 0))
        text += "\nand " + std::to_string(more) + " more of these";
    return text;
}

} // namespace ptsched::tasks
