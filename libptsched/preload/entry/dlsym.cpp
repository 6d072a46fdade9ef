// SPDX-License-Identifier: MIT
/*
 * dlsym() and dlvsym() as programs see them.
 *
 * RTLD_NEXT and RTLD_DEFAULT mean something relative to the caller, which the C library finds by its return address.
 * So the exported functions are a few instructions of assembly: they ask the hooks below, and unless a hook has an
 * answer they jump (not call) to the C library's function with the caller's arguments and return address in place.
 *
 * Both may run before this library, or a sanitizer, has been initialised: nothing here allocates, locks, calls
 * the C library or is instrumented until a name of the driver is asked for.
 */
#include "libptsched/preload/entry/procaddr.hpp"
#include "libptsched/preload/loaded/real_dlsym.hpp"

#include <dlfcn.h>

#ifndef __x86_64__
#error "the dlsym() trampolines are written for x86-64"
#endif

namespace ptsched::preload {
namespace {

/* Returned in rax and rdx: the answer, or where to jump. */
struct Answer {
    void *value;
    void *jump;
};

bool worth_a_look(void *handle, const char *name)
{
    return handle != RTLD_NEXT && name && name[0] == 'c' && name[1] == 'u' && is_driver_name(name);
}

} // namespace

extern "C" __attribute__((used)) Answer ptsched_dlsym_hook(void *handle, const char *name)
{
    if (worth_a_look(handle, name))
        return {resolve_name(handle, name, nullptr), nullptr};
    return {nullptr, reinterpret_cast<void *>(real_dlsym())};
}

extern "C" __attribute__((used)) Answer ptsched_dlvsym_hook(void *handle, const char *name, const char *version)
{
    if (worth_a_look(handle, name))
        return {resolve_name(handle, name, version), nullptr};
    return {nullptr, reinterpret_cast<void *>(real_dlvsym())};
}

} // namespace ptsched::preload

/* A function may carry one version name only, hence two labels for each. */
asm(R"(
    .macro ptsched_trampoline name, hook
    .text
    .p2align 4
    .globl  \name\()_old, \name\()_new
    .type   \name\()_old, @function
    .type   \name\()_new, @function
\name\()_old:
\name\()_new:
    .cfi_startproc
    endbr64
    push    %rdi
    .cfi_adjust_cfa_offset 8
    push    %rsi
    .cfi_adjust_cfa_offset 8
    push    %rdx
    .cfi_adjust_cfa_offset 8
    call    \hook
    mov     %rdx, %r11
    pop     %rdx
    .cfi_adjust_cfa_offset -8
    pop     %rsi
    .cfi_adjust_cfa_offset -8
    pop     %rdi
    .cfi_adjust_cfa_offset -8
    test    %r11, %r11
    jz      1f
    jmp     *%r11
1:  ret
    .cfi_endproc
    .size   \name\()_old, . - \name\()_old
    .size   \name\()_new, . - \name\()_new
    .endm

    ptsched_trampoline ptsched_dlsym, ptsched_dlsym_hook
    ptsched_trampoline ptsched_dlvsym, ptsched_dlvsym_hook
    .symver ptsched_dlsym_old, dlsym@GLIBC_2.2.5
    .symver ptsched_dlsym_new, dlsym@@GLIBC_2.34
    .symver ptsched_dlvsym_old, dlvsym@GLIBC_2.2.5
    .symver ptsched_dlvsym_new, dlvsym@@GLIBC_2.34
)");
