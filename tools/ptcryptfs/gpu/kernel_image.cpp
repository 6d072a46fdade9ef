// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/gpu/kernel_image.hpp"

#include <cstring>

/* Behind it a null, which ends what is text. */
asm(R"(.pushsection .rodata
ptcryptfs_ptx:
.incbin "tools/ptcryptfs/gpu/kernels.ptx"
.byte 0
.popsection)");

extern "C" [[gnu::visibility("hidden")]] const char ptcryptfs_ptx[];

namespace ptcryptfs {

std::span<const std::byte> kernel_image()
{
    return std::as_bytes(std::span(ptcryptfs_ptx, std::strlen(ptcryptfs_ptx)));
}

} // namespace ptcryptfs
