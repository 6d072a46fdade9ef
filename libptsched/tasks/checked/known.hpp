/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_CHECKED_KNOWN_HPP
#define PTSCHED_TASKS_CHECKED_KNOWN_HPP

#include "libptsched/tasks/checked/guarded.hpp"
#include "libptsched/tasks/task.hpp"

#include <map>
#include <tuple>

namespace ptsched::tasks {

/* The memory of which a runtime knows whose it is: its arrays, and what tasks declare until somebody has waited. */
class Known {
public:
    void add_array(Guarded array);
    /* In memory of the GPU side, which may be written by GPUs. */
    void add_managed(Bytes array);
    /* False if it was not given to add_array(). */
    bool remove_array(void *memory);
    bool has_array(void *memory) const { return arrays_.contains(memory); }
    void declare(const Task &task);
    /* What was declared by those inside the task of that number, or by those of nobody if it is 0: they have ended. */
    void forget(std::uint64_t inside);
    void forget(std::uint64_t inside, const Range &range);

    /* All of it that is mapped, the pages of it that may be protected, and those that nobody may touch. */
    const ByteSet &bytes();
    const ByteSet &pages();
    const ByteSet &guards();
    const ByteSet &managed();
    /* ", in the range that task 3 (init) declares out (0x7f2a00001000, 4096 bytes)", for who is not to touch it. */
    std::string whose(std::uintptr_t address, const Task &by) const;
    /* Bytes of @task's, which is inside another, that this one has not declared, but others have: what to say of it. */
    std::string hides(const Task &task) const;

private:
    struct Use {
        Range range;
        Mode mode;
        const char *name;
        std::uint64_t number;
    };
    using Key = std::tuple<std::uint64_t, const std::byte *, std::size_t, std::size_t, std::size_t>; /* inside whom */

    static std::string describe_use(const Use &use);
    const Use *use_of(std::uintptr_t address) const;
    std::string whose_array(std::uintptr_t address) const;
    void update();

    std::map<Key, Use> uses_;
    std::map<void *, Guarded> arrays_;
    std::map<void *, Bytes> managed_arrays_;
    bool changed_ = true;
    ByteSet bytes_, pages_, guards_, managed_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_CHECKED_KNOWN_HPP */
