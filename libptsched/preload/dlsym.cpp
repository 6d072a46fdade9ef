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
#include "dlsym.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstdint>

#ifndef __x86_64__
#error "the dlsym() trampolines are written for x86-64"
#endif

namespace ptsched::preload {
namespace {

struct Found {
    void *dlsym;
    void *dlvsym;
};

/* strcmp() may itself be waiting for a sanitizer to look it up. */
bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* The number of symbols, which only the hash table tells: the highest index in any chain. */
std::uint32_t symbol_count(const std::uint32_t *gnu_hash)
{
    std::uint32_t buckets = gnu_hash[0], first = gnu_hash[1], bloom_words = gnu_hash[2];
    auto bloom = reinterpret_cast<const ElfW(Addr) *>(gnu_hash + 4);
    auto bucket = reinterpret_cast<const std::uint32_t *>(bloom + bloom_words);
    const std::uint32_t *chain = bucket + buckets;
    std::uint32_t last = 0;

    for (std::uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return 0;
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

/* Whether both were found in @object. */
bool look_in_object(const link_map &object, Found &found)
{
    /* The loader has relocated these addresses, except in the vdso, which is not what is looked for. */
    const ElfW(Sym) *symbols = nullptr;
    const char *strings = nullptr;
    const std::uint32_t *gnu_hash = nullptr;
    std::size_t soname = 0;
    for (const ElfW(Dyn) *dynamic = object.l_ld; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            symbols = reinterpret_cast<const ElfW(Sym) *>(dynamic->d_un.d_ptr);
            break;
        case DT_STRTAB:
            strings = reinterpret_cast<const char *>(dynamic->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            gnu_hash = reinterpret_cast<const std::uint32_t *>(dynamic->d_un.d_ptr);
            break;
        case DT_SONAME:
            soname = dynamic->d_un.d_val;
            break;
        }
    }
    if (!soname || !symbols || !gnu_hash || reinterpret_cast<std::uintptr_t>(strings) < object.l_addr)
        return false;
    if (!same(strings + soname, "libc.so.6") && !same(strings + soname, "libdl.so.2"))
        return false;

    std::uint32_t count = symbol_count(gnu_hash);
    for (std::uint32_t i = 0; i < count; i++) {
        const ElfW(Sym) &symbol = symbols[i];
        if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        auto address = reinterpret_cast<void *>(object.l_addr + symbol.st_value);
        if (same(strings + symbol.st_name, "dlsym"))
            found.dlsym = address;
        else if (same(strings + symbol.st_name, "dlvsym"))
            found.dlvsym = address;
    }
    return found.dlsym && found.dlvsym;
}

std::atomic<DlsymFn> the_dlsym;
std::atomic<DlvsymFn> the_dlvsym;

void find_both()
{
    Found found{};
    for (const link_map *object = _r_debug.r_map; object && !look_in_object(*object, found); object = object->l_next) {
    }
    the_dlsym.store(reinterpret_cast<DlsymFn>(found.dlsym), std::memory_order_relaxed);
    the_dlvsym.store(reinterpret_cast<DlvsymFn>(found.dlvsym), std::memory_order_relaxed);
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
