// SPDX-License-Identifier: MIT
/*
 * The C library's functions cannot be found with dlsym() or dlvsym(), both of which are ours in this process, nor by
 * the path of a file. They are read from the symbol table of the loaded libc.so.6 (libdl.so.2 before glibc 2.34),
 * which the loader's list leads to.
 *
 * Both may be wanted before this library, or a sanitizer, has been initialised: nothing here allocates, locks, calls
 * the C library or is instrumented.
 */
#include "libptsched/preload/loaded/real_dlsym.hpp"

#include "libptsched/preload/loaded/loaded_object.hpp"

#include <atomic>
#include <link.h>

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

} // namespace ptsched::preload
