// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/crypt/engine.hpp"

#include <new>

namespace ptcryptfs {

thread_local pid_t served_process = 0;

/* Not cleared: that would cost as much as to encrypt a part of it. */
Buffer Engine::buffer(std::size_t bytes)
{
    constexpr std::align_val_t page{4096};
    auto *const memory = static_cast<std::byte *>(operator new(bytes, page));
    return {std::shared_ptr<void>(memory, [](void *to_free) { operator delete(to_free, page); }), {memory, bytes}};
}

} // namespace ptcryptfs
