// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/kernels_image.hpp"

#include <cstring>

/* Behind it a null, which ends what is text. */
asm(R"(.pushsection .rodata
ptsched_arena_ptx:
.incbin "libptsched/arena/coherence/kernels.ptx"
.byte 0
.popsection)");

extern "C" [[gnu::visibility("hidden")]] const char ptsched_arena_ptx[];

namespace ptsched::arena {

std::span<const std::byte> kernels_image()
{
    return std::as_bytes(std::span(ptsched_arena_ptx, std::strlen(ptsched_arena_ptx)));
}

} // namespace ptsched::arena
