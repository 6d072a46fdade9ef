// SPDX-License-Identifier: MIT
/*
 * The program's unwinder in place of one of our own.
 *
 * A thread that is cancelled, that ends, or that throws in the driver's call is unwound through our frames by libgcc_s,
 * whose notes on the way an unwinder linked into this library cannot read: it would abort. But to be linked with that
 * library would be to ask each program in a tree to have it. So it is loaded when the first of its functions is called,
 * as the C library does for its own part.
 */
#include "libptsched/preload/loaded/unwinder.hpp"

#include "libptsched/preload/loaded/real_dlsym.hpp"

#include <cstdlib>
#include <dlfcn.h>

namespace ptsched::preload {
namespace {

void *library()
{
    static void *const handle = dlopen("libgcc_s.so.1", RTLD_LAZY);
    return handle;
}

} // namespace

void load_unwinder()
{
    library();
}

extern "C" __attribute__((used)) void *ptsched_unwinder_function(const char *name)
{
    void *function = library() ? real_dlsym()(library(), name) : nullptr;
    if (!function)
        std::abort();
    return function;
}

} // namespace ptsched::preload

/* Each jumps, so that the frame that its function begins with is the caller's. */
asm(R"(
    .macro ptsched_unwinder name
    .section .rodata
.L\name\()_name:
    .string "\name"
    .text
    .p2align 4
    .globl  \name
    .hidden \name
    .type   \name, @function
\name:
    .cfi_startproc
    endbr64
    push    %rdi
    .cfi_adjust_cfa_offset 8
    push    %rsi
    .cfi_adjust_cfa_offset 8
    push    %rdx
    .cfi_adjust_cfa_offset 8
    lea     .L\name\()_name(%rip), %rdi
    call    ptsched_unwinder_function
    pop     %rdx
    .cfi_adjust_cfa_offset -8
    pop     %rsi
    .cfi_adjust_cfa_offset -8
    pop     %rdi
    .cfi_adjust_cfa_offset -8
    jmp     *%rax
    .cfi_endproc
    .size   \name, . - \name
    .endm

    ptsched_unwinder _Unwind_RaiseException
    ptsched_unwinder _Unwind_Resume
    ptsched_unwinder _Unwind_Resume_or_Rethrow
    ptsched_unwinder _Unwind_DeleteException
    ptsched_unwinder _Unwind_GetDataRelBase
    ptsched_unwinder _Unwind_GetTextRelBase
    ptsched_unwinder _Unwind_GetIPInfo
    ptsched_unwinder _Unwind_GetLanguageSpecificData
    ptsched_unwinder _Unwind_GetRegionStart
    ptsched_unwinder _Unwind_SetGR
    ptsched_unwinder _Unwind_SetIP
)");
