// SPDX-License-Identifier: MIT
#include "libptsched/tasks/checked/known.hpp"

#include <fstream>
#include <sstream>

namespace ptsched::tasks {

namespace {

/* Memory of this process that is read and written. That of drivers is theirs to protect. */
struct Mapped {
    ByteSet all, of_programs;

    Mapped()
    {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            std::istringstream fields(line);
            Bytes bytes{};
            char dash;
            std::string permissions;
            if (!(fields >> std::hex >> bytes.begin >> dash >> bytes.end >> permissions) ||
                !permissions.starts_with("rw"))
                continue;
            all.add(bytes);
            if (line.find(" /dev/nvidia") == std::string::npos)
                of_programs.add(bytes);
        }
        all.sort();
        of_programs.sort();
    }
};

bool has(const Range &range, std::uintptr_t address)
{
    return overlap(range, {reinterpret_cast<std::byte *>(address), 1, 1, 0});
}

ByteSet set_of(const Range &range)
{
    ByteSet set;
    set.add(range);
    set.sort();
    return set;
}

} // namespace

void Known::add_array(Guarded array)
{
    void *const data = array.data();
    arrays_.emplace(data, std::move(array));
    changed_ = true;
}

void Known::add_managed(Bytes array)
{
    managed_arrays_[array.data()] = array;
    changed_ = true;
}

bool Known::remove_array(void *memory)
{
    changed_ = true;
    managed_arrays_.erase(memory);
    return arrays_.erase(memory);
}

void Known::declare(const Task &task)
{
    const std::uint64_t inside = task.parent ? task.parent->number : 0;
    for (const Access &access : task.declared()) {
        const Range &range = access.range;
        if (!range.bytes())
            continue;
        const Use use{range, access.mode, task.attributes.name, task.number};
        const auto [at, is_new] =
            uses_.try_emplace({inside, range.begin, range.row_bytes, range.rows, range.pitch}, use);
        /* Who writes says more than who reads. */
        if (!is_new && writes(use.mode) && !writes(at->second.mode))
            at->second = use;
        changed_ = changed_ || is_new;
    }
}

void Known::forget(std::uint64_t inside)
{
    const auto begin = uses_.lower_bound({inside, nullptr, 0, 0, 0});
    const auto end = uses_.lower_bound({inside + 1, nullptr, 0, 0, 0});
    changed_ = changed_ || begin != end;
    uses_.erase(begin, end);
}

void Known::forget(std::uint64_t inside, const Range &range)
{
    const auto gone = [&](const auto &use) {
        return std::get<0>(use.first) == inside && overlap(use.second.range, range);
    };
    if (std::erase_if(uses_, gone))
        changed_ = true;
}

void Known::update()
{
    if (!changed_)
        return;
    changed_ = false;
    ByteSet all;
    guards_ = {};
    managed_ = {};
    for (const auto &[key, use] : uses_)
        all.add(use.range);
    for (const auto &[data, array] : arrays_) {
        all.add(array.pages());
        guards_.add({array.all().begin, array.pages().begin});
        guards_.add({array.pages().end, array.all().end});
    }
    for (const auto &[data, array] : managed_arrays_) {
        all.add(array);
        managed_.add(array);
    }
    for (ByteSet *set : {&all, &guards_, &managed_})
        set->sort();
    const Mapped mapped;
    bytes_ = all.within(mapped.all);
    pages_ = bytes_.within(mapped.of_programs).without(managed_).whole_pages();
}

const ByteSet &Known::bytes()
{
    update();
    return bytes_;
}

const ByteSet &Known::pages()
{
    update();
    return pages_;
}

const ByteSet &Known::guards()
{
    update();
    return guards_;
}

const ByteSet &Known::managed()
{
    update();
    return managed_;
}

std::string Known::describe_use(const Use &use)
{
    return "the range that task " + std::to_string(use.number) + " (" + use.name + ") declares " + to_string(use.mode) +
           " (" + describe(use.range) + ")";
}

const Known::Use *Known::use_of(std::uintptr_t address) const
{
    const Use *found = nullptr;
    for (const auto &[key, use] : uses_)
        if (has(use.range, address) && (!found || (writes(use.mode) && !writes(found->mode))))
            found = &use;
    return found;
}

std::string Known::whose_array(std::uintptr_t address) const
{
    const auto text = [](const Bytes &array) {
        return "an array of " + std::to_string(array.size()) + " bytes at " +
               describe({array.data(), 0, 1, 0}).substr(0, describe({array.data(), 0, 1, 0}).find(','));
    };
    for (const auto &[data, guarded] : arrays_) {
        const Bytes &array = guarded.array();
        if (array.has(address))
            return ", in " + text(array);
        if (!guarded.all().has(address))
            continue;
        if (address < array.begin)
            return ", " + std::to_string(array.begin - address) + " bytes before " + text(array);
        return ", " + std::to_string(address - array.end) + " bytes behind the end of " + text(array);
    }
    for (const auto &[data, array] : managed_arrays_)
        if (array.has(address))
            return ", in " + text(array);
    return "";
}

std::string Known::whose(std::uintptr_t address, const Task &by) const
{
    for (const Access &access : by.declared())
        if (has(access.range, address))
            return std::string(", of what it has declared ") + to_string(access.mode) + " alone";
    if (const Use *use = use_of(address))
        return ", in " + describe_use(*use);
    return whose_array(address);
}

std::string Known::hides(const Task &task) const
{
    ByteSet declared;
    for (const Access &access : task.parent->declared())
        declared.add(access.range);
    declared.sort();
    const std::uint64_t outside = task.parent->parent ? task.parent->parent->number : 0;
    for (const Access &access : task.declared())
        for (const Bytes &bytes : set_of(access.range).without(declared))
            for (const auto &[key, use] : uses_)
                if (std::get<0>(key) == outside && overlap(use.range, {bytes.data(), bytes.size(), 1, 0}))
                    return tasks::describe(task) + " declares " + to_string(access.mode) + " " +
                           describe(access.range) + ", which " + tasks::describe(*task.parent) +
                           ", by which it was made, has not declared; it has bytes of " + describe_use(use) +
                           ", and nothing orders the two";
    return {};
}

} // namespace ptsched::tasks
