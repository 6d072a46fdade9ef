// SPDX-License-Identifier: MIT
#include "libptsched/preload/loaded/loaded_object.hpp"

#include <elf.h>

namespace ptsched::preload {

bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* glibc relocates the addresses in a dynamic section, except in the vdso; musl does not. */
template <class T> const T *LoadedObject::at(ElfW(Addr) address) const
{
    return reinterpret_cast<const T *>(address < base_ ? base_ + address : address);
}

LoadedObject::LoadedObject(ElfW(Addr) base, const ElfW(Dyn) * dynamic) : base_(base)
{
    std::size_t soname = 0;
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            symbols_ = at<ElfW(Sym)>(dynamic->d_un.d_ptr);
            break;
        case DT_STRTAB:
            strings_ = at<char>(dynamic->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            gnu_hash_ = at<std::uint32_t>(dynamic->d_un.d_ptr);
            break;
        case DT_SONAME:
            soname = dynamic->d_un.d_val;
            break;
        }
    }
    if (soname && strings_)
        soname_ = strings_ + soname;
}

void *LoadedObject::function(const char *name) const
{
    if (!symbols_ || !strings_ || !gnu_hash_)
        return nullptr;
    std::uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1], bloom_words = gnu_hash_[2];
    auto bloom = reinterpret_cast<const ElfW(Addr) *>(gnu_hash_ + 4);
    auto bucket = reinterpret_cast<const std::uint32_t *>(bloom + bloom_words);
    const std::uint32_t *chain = bucket + buckets;

    std::uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + static_cast<unsigned char>(*c);
    std::uint32_t index = buckets ? bucket[hash % buckets] : 0;
    if (index < first || !index)
        return nullptr;
    for (;; index++) {
        std::uint32_t of_this = chain[index - first];
        const ElfW(Sym) &symbol = symbols_[index];
        if ((of_this | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            same(strings_ + symbol.st_name, name))
            return reinterpret_cast<void *>(base_ + symbol.st_value);
        if (of_this & 1)
            return nullptr;
    }
}

} // namespace ptsched::preload
