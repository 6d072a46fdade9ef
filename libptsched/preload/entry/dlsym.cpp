/* SPDX-License-Identifier: MIT */
/*
 * dlsym() and dlvsym() as programs see them.
 *
 * RTLD_NEXT and RTLD_DEFAULT mean something relative to the caller, which the C library finds by its return address.
 * So the exported functions are a few instructions of assembly: they ask the hooks below, and unless a hook has an
 * answer they jump (not call) to the C library's function with the caller's arguments and return address in place.
 *
 * The C library's functions cannot be found with dlsym() or dlvsym(), both of which are ours in this process, nor by
 * the path of a file. They are read from the symbol table of the loaded libc.so.6 (libdl.so.2 before glibc 2.34),
 * which the loader's list leads to.
 *
 * Both may run before this library, or a sanitizer, has been initialised: nothing here allocates, locks, calls
 * the C library or is instrumented until a name of the driver is asked for.
 */
#include "libptsched/preload/entry/dlsym.hpp"

#include "libptsched/preload/entry/loaded_object.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#ifndef __x86_64__
#error "the dlsym() trampolines are written for x86-64"
#endif

namespace ptsched::preload {
namespace {

/* The loader's list. musl has it by another name; both are weak, since neither C library has both. */
#pragma weak _r_debug
extern "C" r_debug *_dl_debug_addr __attribute__((weak));

const link_map *first_object()
{
    if (&_r_debug)
        return _r_debug.r_map;
    return &_dl_debug_addr && _dl_debug_addr ? _dl_debug_addr->r_map : nullptr;
}

bool is_c_library(const LoadedObject &object)
{
    /* musl's has no name of its own. */
    return same(object.soname(), "libc.so.6") || same(object.soname(), "libdl.so.2") ||
           (!&_r_debug && object.function("__libc_start_main"));
}

std::atomic<DlsymFn> the_dlsym;
std::atomic<DlvsymFn> the_dlvsym;

void find_both()
{
    for (const link_map *map = first_object(); map; map = map->l_next) {
        LoadedObject object(map->l_addr, map->l_ld);
        void *found = is_c_library(object) ? object.function("dlsym") : nullptr;
        if (!found)
            continue;
        /* There is no dlvsym() in musl. */
        the_dlvsym.store(reinterpret_cast<DlvsymFn>(object.function("dlvsym")), std::memory_order_relaxed);
        the_dlsym.store(reinterpret_cast<DlsymFn>(found), std::memory_order_relaxed);
        return;
    }
}

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

DlsymFn real_dlsym()
{
    if (!the_dlsym.load(std::memory_order_relaxed))
        find_both();
    return the_dlsym.load(std::memory_order_relaxed);
}

DlvsymFn real_dlvsym()
{
    if (!the_dlvsym.load(std::memory_order_relaxed))
        find_both();
    return the_dlvsym.load(std::memory_order_relaxed);
}

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
