// SPDX-License-Identifier: MIT
/*
 * Two memories at one address: that of the GPUs is mapped first, and the host's over it. The other order does not work,
 * since the driver reserves addresses of the host's for its own.
 */
#include "libptsched/arena/window/ground.hpp"
#include <ptsched/device/addresses.hpp>
#include <ptsched/device/allocation.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace ptsched::arena {

namespace {

/*
 * Of how much is registered and mapped at once: each takes the driver's locks, and memory of its own. It is what the
 * processor can map as one page, too, if it begins at a multiple of that.
 */
constexpr std::size_t least_unit = 2 << 20;

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

[[noreturn]] void fail(const char *doing, std::size_t bytes)
{
    const int error = errno;
    const std::string what = std::string(doing) + " of " + std::to_string(bytes) + " bytes: " + std::strerror(error);
    if (error == ENOMEM)
        throw device::OutOfMemory(what);
    throw Error(what);
}

/* Memory of the host without an address, of zeros. */
class File {
public:
    explicit File(std::size_t bytes) : fd_(memfd_create("ptsched-window", MFD_CLOEXEC))
    {
        if (fd_ < 0)
            fail("memory for a window", bytes);
        if (ftruncate(fd_, static_cast<off_t>(bytes)) < 0) {
            const int error = errno;
            close(fd_);
            errno = error;
            fail("memory for a window", bytes);
        }
    }
    ~File() { close(fd_); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    /* All of it, with an address that is a multiple of the unit. */
    std::byte *map_all(std::size_t bytes) const;
    /* @flags: of mmap, besides. */
    std::byte *map(void *at, int flags, std::size_t offset, std::size_t bytes) const
    {
        void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | flags, fd_,
                            static_cast<off_t>(offset));
        if (mapped == MAP_FAILED)
            fail("the host's view of a window", bytes);
        return static_cast<std::byte *>(mapped);
    }

private:
    const int fd_;
};

std::byte *File::map_all(std::size_t bytes) const
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *const reserved = mmap(nullptr, bytes + least_unit, PROT_NONE, flags, -1, 0);
    if (reserved == MAP_FAILED)
        fail("the host's view of a window", bytes);
    auto *const begin = static_cast<std::byte *>(reserved);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % least_unit;
    try {
        map(begin + before, MAP_FIXED, 0, bytes);
    } catch (...) {
        munmap(reserved, bytes + least_unit);
        throw;
    }
    if (before)
        munmap(begin, before);
    munmap(begin + before + bytes, least_unit - before);
    return begin + before;
}

class TwoMemories final : public Ground, public Memories {
public:
    TwoMemories(std::vector<device::Device *> gpus, std::size_t bytes);
    ~TwoMemories() override;

    std::byte *begin() override { return view(); }
    std::size_t bytes() const override { return addresses_->bytes(); }
    std::size_t unit() const override { return unit_; }
    void make(std::size_t offset, std::size_t bytes) override;
    void clear(std::size_t offset, std::size_t bytes) override { std::memset(alias_ + offset, 0, bytes); }
    Memories *memories() override { return this; }

    std::byte *view() override { return static_cast<std::byte *>(device::host_pointer(addresses_->begin())); }
    std::byte *alias() override { return alias_; }
    bool made(std::size_t offset, std::size_t bytes) const noexcept override;
    unsigned gpus() const override { return static_cast<unsigned>(gpus_.size()); }
    device::Device &gpu(unsigned n) override { return *gpus_.at(n); }
    device::Address on_gpu(std::size_t offset) override { return addresses_->begin() + offset; }
    void protect(std::size_t offset, std::size_t bytes, Rights rights) noexcept override;

private:
    const std::vector<device::Device *> gpus_;
    const std::unique_ptr<device::Addresses> addresses_;
    const std::size_t unit_;
    const File file_;
    std::byte *const alias_;
    std::vector<std::atomic<bool>> made_;         /* by the unit */
    std::vector<device::Allocation> page_locked_; /* of the alias, in pieces */
};

TwoMemories::TwoMemories(std::vector<device::Device *> gpus, std::size_t bytes)
    : gpus_(std::move(gpus)), addresses_(device::Addresses::reserve(gpus_, bytes)),
      unit_(std::max(addresses_->unit(), least_unit)), file_(addresses_->bytes()),
      alias_(file_.map_all(addresses_->bytes())), made_(addresses_->bytes() / unit_)
{
}

TwoMemories::~TwoMemories()
{
    page_locked_.clear();
    munmap(alias_, bytes());
}

void TwoMemories::make(std::size_t offset, std::size_t bytes)
{
    /* As large pages, if the kernel has some: to change the rights of small ones takes as long as to copy them. */
    madvise(alias_ + offset, bytes, MADV_POPULATE_WRITE);
    madvise(alias_ + offset, bytes, MADV_COLLAPSE);
    /* What can fail for want of memory comes first, and can be undone. */
    auto locked = device::Allocation::registered(alias_ + offset, bytes);
    page_locked_.reserve(page_locked_.size() + 1);
    addresses_->make(offset, bytes);
    /* Its pages are there already: the kernel enters them at once, not one by one when they are touched. */
    file_.map(view() + offset, MAP_FIXED | MAP_POPULATE, offset, bytes);
    protect(offset, bytes, Rights::none);
    page_locked_.push_back(std::move(locked));
    for (std::size_t i = offset / unit_; i < (offset + bytes) / unit_; i++)
        made_[i].store(true, std::memory_order_release);
}

bool TwoMemories::made(std::size_t offset, std::size_t bytes) const noexcept
{
    if (offset > this->bytes() || bytes > this->bytes() - offset)
        return false;
    for (std::size_t i = offset / unit_; i * unit_ < offset + bytes; i++)
        if (!made_[i].load(std::memory_order_acquire))
            return false;
    return true;
}

void TwoMemories::protect(std::size_t offset, std::size_t bytes, Rights rights) noexcept
{
    const int protection = rights == Rights::none   ? PROT_NONE
                           : rights == Rights::read ? PROT_READ
                                                    : PROT_READ | PROT_WRITE;
    if (mprotect(view() + offset, bytes, protection) == 0)
        return;
    constexpr char text[] = "ptsched: arena: the kernel does not protect a page of a window: too many mappings, of "
                            "which /proc/sys/vm/max_map_count allows more\n";
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        std::abort();
    std::abort();
}

} // namespace

std::unique_ptr<Ground> make_two_memories(std::vector<device::Device *> gpus, std::size_t bytes)
{
    const std::size_t whole = (bytes + least_unit - 1) / least_unit * least_unit;
    return std::make_unique<TwoMemories>(std::move(gpus), whole);
}

} // namespace ptsched::arena
