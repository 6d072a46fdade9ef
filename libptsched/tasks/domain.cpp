// SPDX-License-Identifier: MIT
#include "libptsched/tasks/domain.hpp"

#include <algorithm>
#include <limits>

namespace ptsched::tasks {

namespace {

/* Whether those of a group of @mode need not wait for each other. */
bool may_join(Mode mode)
{
    return mode == Mode::in || mode == Mode::commutative || mode == Mode::reduction;
}

bool declares_weakly(const Task &task)
{
    const auto declared = task.declared();
    return std::any_of(declared.begin(), declared.end(), [](const Access &access) { return is_weak(access.mode); });
}

/* What a weak access is to those outside; and only the host has copies of its own, and locks. */
Mode plain(const Task &task, Mode mode)
{
    switch (mode) {
    case Mode::weak_in:
        return Mode::in;
    case Mode::weak_out:
        return Mode::out;
    case Mode::weak_inout:
        return Mode::inout;
    case Mode::commutative:
        /* What has begun before an earlier one must not wait for that inside: it would keep it from beginning. */
        return task.runs_on_gpu || declares_weakly(task) ? Mode::inout : mode;
    case Mode::reduction:
        return task.runs_on_gpu ? Mode::inout : mode;
    default:
        return mode;
    }
}

/* Adds up what a reduction's tasks have done. */
struct AddUp {
    std::shared_ptr<Partial> partial;

    static void move(void *to, void *from) { new (to) AddUp(std::move(*static_cast<AddUp *>(from))); }
    static void destroy(void *self) noexcept { static_cast<AddUp *>(self)->~AddUp(); }
    static void on_host(void *self, const Call &) { static_cast<AddUp *>(self)->partial->add_up(); }
    static constexpr Function function{
        sizeof(std::shared_ptr<Partial>), alignof(std::shared_ptr<Partial>), move, destroy, on_host, nullptr};
};
static_assert(sizeof(AddUp) <= Task::inline_bytes);

} // namespace

Domain::~Domain()
{
    for (auto &[range, entry] : entries_) {
        drop(entry.current);
        drop(entry.before);
    }
}

std::uint32_t Domain::add(Task &task, std::uint32_t era)
{
    if (entries_.size() >= prune_at_)
        prune();
    /* All first, so that processors bring what others have written last for all of them at once. */
    constexpr std::size_t at_once = 8;
    Entry *entries[at_once];
    std::uint32_t waits = 0;
    for (std::size_t first = 0; first < task.access_count; first += at_once) {
        const std::size_t count = std::min(task.access_count - first, at_once);
        for (std::size_t i = 0; i < count; i++) {
            entries[i] = &entry_of(task.accesses[first + i].range);
            for (const Group *group : {&entries[i]->current, &entries[i]->before})
                if (!group->empty())
                    __builtin_prefetch(group->tasks.front());
        }
        for (std::size_t i = 0; i < count; i++)
            waits += add(task, *entries[i], task.accesses[first + i], first + i, era);
    }
    return waits;
}

std::uint32_t Domain::add(Task &task, Entry &entry, const Access &access, std::size_t index, std::uint32_t era)
{
    const Mode mode = plain(task, access.mode);
    if (entry.partial && (mode != Mode::reduction || entry.partial->combine() != *access.combine))
        close(entry, era);
    for (Entry *other : entry.overlapping)
        if (other->partial)
            close(*other, era);
    /* What an earlier access of its own waits for, this one does, too, though it finds none but itself. */
    const bool is_again = !entry.current.empty() && entry.current.tasks.back() == &task;
    std::uint32_t waits = 0;
    Task *opens = nullptr;
    if (is_weak(access.mode) && !task.runs_on_gpu) {
        /* The task itself may begin; the gate opens to what it makes. */
        Task &gate = host_.make();
        gate.references.fetch_add(1, std::memory_order_relaxed);
        if (!task.extras)
            task.extras = std::make_unique<Extras>();
        task.extras->gates.push_back({access.range, &gate});
        host_.made(gate, add_strong(gate, entry, {access.range, mode}, era, task));
        opens = &gate;
    } else {
        waits = add_strong(task, entry, {access.range, mode}, era, task);
    }
    join(task, entry, mode);
    if (task.runs_on_gpu)
        was_on_gpu_ = entry.was_on_gpu = true;
    if (task.runs_on_gpu && !waits && !is_again && reads(mode) && index < std::numeric_limits<std::uint32_t>::digits)
        task.settled |= std::uint32_t{1} << index;
    /* Who comes next waits for what this one may not have waited for. */
    if (opens) {
        opens->references.fetch_add(1, std::memory_order_relaxed);
        entry.current.tasks.push_back(opens);
    }
    if (mode == Mode::commutative || mode == Mode::reduction)
        set_extras(task, entry, access, index);
    return waits;
}

/* By what is there already; the task itself comes with join(). A gate that waited for its own task would never open. */
std::uint32_t Domain::add_strong(Task &task, Entry &entry, const Access &access, std::uint32_t era, const Task &whose)
{
    const Mode mode = access.mode;
    const bool joins = may_join(mode) && entry.current.mode == mode && !entry.current.empty();
    std::uint32_t waits = depend(task, joins ? entry.before : entry.current, access, era, whose);
    for (Entry *other : entry.overlapping) {
        const bool both_read = mode == Mode::in && other->current.mode == Mode::in;
        waits += depend(task, both_read ? other->before : other->current, access, era, whose);
    }
    return waits;
}

std::uint32_t Domain::depend(Task &task, Group &group, const Access &by, std::uint32_t era, const Task &whose)
{
    std::uint32_t waits = 0;
    if (host_.picture)
        for (Task *on : group.tasks)
            if (on != &whose)
                host_.picture->add(task, *on, by);
    for (Task *on : group.tasks)
        if (on != &whose)
            waits += depend(task, *on, era);
    return waits;
}

std::uint32_t Domain::depend(Task &task, Task &on, std::uint32_t era)
{
    if (on.ended.is_over()) {
        if (on.failed.load(std::memory_order_relaxed) == era)
            task.failed.store(era, std::memory_order_relaxed);
        return 0;
    }
    Edge &edge = task.add_edge();
    edge.to = &task;
    edge.after = {};
    const bool on_gpus = task.runs_on_gpu_alone() && on.runs_on_gpu_alone();
    if ((on_gpus ? on.given : on.ended).add(edge))
        return 1;
    if (on_gpus)
        edge.after = on.position;
    /* Meanwhile it has ended. */
    if (on.failed.load(std::memory_order_acquire) == era)
        task.failed.store(era, std::memory_order_relaxed);
    return 0;
}

void Domain::join(Task &task, Entry &entry, Mode mode)
{
    Group &current = entry.current;
    if (current.empty() || current.mode != mode || !may_join(mode)) {
        drop(entry.before);
        std::swap(entry.before, current);
        /* Nobody joins a writer, so nobody asks what that has waited for. */
        if (!may_join(mode))
            drop(entry.before);
        current.mode = mode;
    }
    /* Twice in a group, by two accesses of the same range, it would be released twice. */
    if (!current.empty() && current.tasks.back() == &task)
        return;
    if (current.tasks.size() >= 64 && std::has_single_bit(current.tasks.size()))
        drop_ended(current);
    task.references.fetch_add(1, std::memory_order_relaxed);
    current.tasks.push_back(&task);
}

void Domain::set_extras(Task &task, Entry &entry, const Access &access, std::size_t index)
{
    if (!task.extras)
        task.extras = std::make_unique<Extras>();
    Extras &extras = *task.extras;
    if (access.mode == Mode::commutative) {
        if (!entry.exclusion)
            entry.exclusion = std::make_shared<Exclusion>();
        const auto at = std::lower_bound(extras.exclusions.begin(), extras.exclusions.end(), entry.exclusion);
        if (at == extras.exclusions.end() || *at != entry.exclusion)
            extras.exclusions.insert(at, entry.exclusion);
        return;
    }
    if (!entry.partial)
        entry.partial = std::make_shared<Partial>(access.range, *access.combine);
    extras.parts.push_back({index, entry.partial});
    reduces_ = true;
}

/* The last of a reduction's tasks adds up what the others have. */
void Domain::close(Entry &entry, std::uint32_t era)
{
    AddUp closure{std::move(entry.partial)};
    entry.partial.reset();
    Task &last = host_.make();
    last.attributes.name = "sum of a reduction";
    last.runs_on_host = last.never_waits = true;
    last.function = &AddUp::function;
    last.closure = last.own_bytes;
    last.own_accesses[0] = {entry.range, Mode::inout, nullptr};
    last.access_count = 1;
    AddUp::move(last.closure, &closure);
    const std::uint32_t waits = depend(last, entry.current, last.own_accesses[0], era, last);
    join(last, entry, Mode::inout);
    host_.made(last, waits);
}

void Domain::close(const Range *range, std::uint32_t era)
{
    if (!reduces_)
        return;
    for (auto &[shape, entry] : entries_)
        if (entry.partial && (!range || overlap(*range, shape)))
            close(entry, era);
    reduces_ = range != nullptr;
}

void Domain::take_users(Group &group, std::vector<Task *> &users)
{
    for (Task *task : group.tasks)
        if (!task->ended.is_over()) {
            task->references.fetch_add(1, std::memory_order_relaxed);
            users.push_back(task);
        }
}

std::vector<Task *> Domain::users(const Range &range)
{
    std::vector<Task *> users;
    entries_.each_overlapping(range, [&](Entry &entry) {
        take_users(entry.current, users);
        take_users(entry.before, users);
    });
    return users;
}

/* Where they have ended already, nobody has to be told. */
std::vector<Domain::Last> Domain::last_users()
{
    std::vector<Last> all;
    if (!was_on_gpu_)
        return all;
    for (auto &[range, entry] : entries_) {
        if (!entry.was_on_gpu)
            continue;
        Last last{range, {}};
        take_users(entry.current, last.users);
        for (Entry *other : entry.overlapping)
            take_users(other->current, last.users);
        if (!last.users.empty())
            all.push_back(std::move(last));
    }
    return all;
}

void Domain::keep_failure(std::exception_ptr failure)
{
    Guard lock(failure_mutex_);
    if (!failure_)
        failure_ = std::move(failure);
}

std::exception_ptr Domain::take_failure()
{
    Guard lock(failure_mutex_);
    return std::exchange(failure_, nullptr);
}

Domain::Entry &Domain::entry_of(const Range &range)
{
    Entry *found = entries_.find(range);
    return found ? *found : make_entry(range);
}

Domain::Entry &Domain::make_entry(const Range &range)
{
    Entry &entry = entries_.make(range);
    /* What the owner may have to wait for, its own tasks have to. */
    if (owner_ && owner_->extras)
        for (const Extras::Gate &gate : owner_->extras->gates)
            if (overlap(gate.range, range)) {
                gate.task->references.fetch_add(1, std::memory_order_relaxed);
                entry.current.mode = Mode::out;
                entry.current.tasks.push_back(gate.task);
            }
    return entry;
}

void Domain::drop(Group &group)
{
    for (Task *task : group.tasks)
        host_.release(*task);
    group.tasks.clear();
}

void Domain::drop_ended(Group &group)
{
    std::erase_if(group.tasks, [&](Task *task) {
        if (!task->ended.is_over())
            return false;
        host_.release(*task);
        return true;
    });
}

bool Domain::is_idle(const Entry &entry) const
{
    const auto all_ended = [](const Group &group) {
        return std::all_of(group.tasks.begin(), group.tasks.end(), [](Task *task) { return task->ended.is_over(); });
    };
    return !entry.partial && all_ended(entry.current) && all_ended(entry.before);
}

/* Entries of memory that nobody uses any more. Each time there must be twice as many as were left. */
void Domain::prune()
{
    entries_.erase_if([&](Entry &entry) {
        if (!is_idle(entry))
            return false;
        drop(entry.current);
        drop(entry.before);
        return true;
    });
    prune_at_ = std::max(fewest_to_prune, 2 * entries_.size());
}

} // namespace ptsched::tasks
