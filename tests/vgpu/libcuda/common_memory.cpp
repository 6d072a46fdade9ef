// SPDX-License-Identifier: MIT
/* Memory that kernels in address spaces of their own have in common with the host. */
#include "tests/vgpu/libcuda/own_addresses.h"

#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vgpu {

namespace {

/* Of addresses: pages come with their use. What is allocated later is there for kernels that run already. */
constexpr std::size_t common_bytes = std::size_t{128} << 30;
constexpr std::size_t page = 4096;

struct Common {
    char *memory = nullptr;
    std::map<std::size_t, std::size_t> unused = {}; /* bytes by where they begin */
};

/* Protected by the driver's lock. */
Common &common()
{
    static Common &made = *new Common;
    return made;
}

std::size_t whole_pages(std::size_t bytes)
{
    return (bytes + page - 1) / page * page;
}

/* The same content, in memory that is shared with children. Nobody else uses it. */
bool share(std::uintptr_t begin, std::uintptr_t end)
{
    const std::size_t bytes = end - begin;
    const int fd = memfd_create("vgpu-variables", MFD_CLOEXEC);
    /* Not by a function that a sanitizer has replaced: what it puts between variables is moved as well. */
    const bool copied = fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
                        syscall(SYS_write, fd, begin, bytes) == static_cast<long>(bytes);
    const bool moved = copied && mmap(reinterpret_cast<void *>(begin), bytes, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
    if (fd >= 0)
        close(fd);
    return moved;
}

struct Search {
    const link_map *module;
    bool shared;
};

int look_at(dl_phdr_info *info, std::size_t, void *data)
{
    auto &search = *static_cast<Search *>(data);
    if (info->dlpi_addr != search.module->l_addr)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const auto &part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_W))
            continue;
        const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        search.shared = search.shared && share(begin / page * page, whole_pages(begin + part.p_memsz));
    }
    return 1;
}

} // namespace

bool begin_own_addresses()
{
    Common &all = common();
    void *memory =
        mmap(nullptr, common_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    all.memory = static_cast<char *>(memory);
    all.unused.emplace(0, common_bytes);
    return true;
}

void *take_common(std::size_t bytes)
{
    Common &all = common();
    bytes = whole_pages(bytes);
    for (auto it = all.unused.begin(); it != all.unused.end(); ++it) {
        const auto [begin, size] = *it;
        if (size < bytes)
            continue;
        all.unused.erase(it);
        if (size > bytes)
            all.unused.emplace(begin + bytes, size - bytes);
        return all.memory + begin;
    }
    return nullptr;
}

void give_common_back(void *memory, std::size_t bytes)
{
    Common &all = common();
    std::size_t begin = static_cast<std::size_t>(static_cast<char *>(memory) - all.memory), size = whole_pages(bytes);
    madvise(memory, size, MADV_REMOVE);
    auto next = all.unused.lower_bound(begin);
    if (next != all.unused.end() && next->first == begin + size) {
        size += next->second;
        next = all.unused.erase(next);
    }
    if (next != all.unused.begin() && std::prev(next)->first + std::prev(next)->second == begin)
        std::prev(next)->second += size;
    else
        all.unused.emplace(begin, size);
}

bool share_variables(void *module)
{
    Search search{nullptr, true};
    return dlinfo(module, RTLD_DI_LINKMAP, &search.module) == 0 && dl_iterate_phdr(look_at, &search) && search.shared;
}

} // namespace vgpu
