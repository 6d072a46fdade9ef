// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/crypt/engine.hpp"

#include <new>

namespace ptcryptfs {

thread_local pid_t served_process = 0;

namespace {

std::shared_ptr<void> pages(std::size_t bytes)
{
    constexpr std::align_val_t page{4096};
    return {operator new(bytes, page), [](void *to_free) { operator delete(to_free, page); }};
}

} // namespace

/*
 * Not cleared: that would cost as much as to encrypt a part of it. A thread's last one is kept for its next request,
 * since the kernel takes longer to give new pages than to copy into them.
 */
Buffer Engine::buffer(std::size_t bytes)
{
    thread_local std::shared_ptr<void> kept;
    thread_local std::size_t kept_bytes = 0;
    if (kept.use_count() != 1 || kept_bytes < bytes) {
        kept_bytes = 0;
        kept = pages(bytes);
        kept_bytes = bytes;
    }
    return {kept, {static_cast<std::byte *>(kept.get()), bytes}};
}

} // namespace ptcryptfs
