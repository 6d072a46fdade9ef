// SPDX-License-Identifier: MIT
/* What calls across are for a window's memory. */
#include <ptsched/arena.hpp>
#include <ptsched/arena/call.hpp>

namespace ptsched::arena {

namespace {

/* A GPU's side is that of all of them. */
Side other_than(Side side)
{
    return side.is_host() ? Side::gpu() : Side::host();
}

} // namespace

CallHooks hooks_of(Window &window, Arena *heap)
{
    CallHooks hooks;
    hooks.contains = [&window](const void *pointer) { return window.contains(pointer); };
    hooks.before_call = [&window](Side callee, std::span<const void *const> pointers) {
        window.release(other_than(callee));
        window.acquire(callee);
        window.access(callee, {pointers.begin(), pointers.end()});
    };
    hooks.after_call = [&window](Side callee, std::span<const void *const>) {
        window.release(callee);
        window.acquire(other_than(callee));
    };
    if (heap) {
        hooks.allocate = [heap](std::size_t bytes, std::size_t alignment) { return heap->allocate(bytes, alignment); };
        hooks.deallocate = [&window](void *block) { window.deallocate(block); };
    }
    return hooks;
}

} // namespace ptsched::arena
