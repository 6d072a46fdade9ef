/* SPDX-License-Identifier: MIT */
/*
 * What a loaded library exports, read from its own tables: where the loader cannot be asked, since its look-ups are
 * ours in this process. Nothing here allocates, locks or calls the C library.
 */
#ifndef PTSCHED_PRELOAD_LOADED_LOADED_OBJECT_HPP
#define PTSCHED_PRELOAD_LOADED_LOADED_OBJECT_HPP

#include <cstdint>
#include <link.h>

namespace ptsched::preload {

class LoadedObject {
public:
    /* One that the loader has at @base, with this dynamic section. */
    LoadedObject(ElfW(Addr) base, const ElfW(Dyn) * dynamic);

    /* Empty: it has none. */
    const char *soname() const { return soname_; }

    /* The function that it defines by that name, in whatever version; NULL: none. */
    void *function(const char *name) const;

private:
    template <class T> const T *at(ElfW(Addr) address) const;

    ElfW(Addr) base_;
    const ElfW(Sym) * symbols_{nullptr};
    const char *strings_{nullptr};
    const std::uint32_t *gnu_hash_{nullptr};
    const char *soname_{""};
};

/* strcmp() may itself be waiting for a sanitizer to look it up. */
bool same(const char *a, const char *b);

} // namespace ptsched::preload

#endif
