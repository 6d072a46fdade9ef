// SPDX-License-Identifier: MIT
#include "libptsched/client/broker_page.hpp"

#include "libptsched/base/lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ptsched {
namespace {

std::size_t page_size()
{
    static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

ptsched_page *map_page(int protection, int flags, int fd)
{
    void *address = mmap(nullptr, page_size(), protection, flags, fd, 0);
    if (address == MAP_FAILED)
        return nullptr;
    madvise(address, page_size(), MADV_DONTFORK);
    return static_cast<ptsched_page *>(address);
}

/* Whether it has a page that nobody can take away: reading beyond the end of a file would end the program. */
bool has_page(int fd)
{
    const int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_SHRINK && lseek(fd, 0, SEEK_END) >= static_cast<off_t>(page_size());
}

void unmap(ptsched_page *page)
{
    if (page)
        munmap(page, page_size());
}

Mutex dead_mutex;

} // namespace

BrokerPage::~BrokerPage()
{
    unmap(page_);
    unmap(spare_);
    unmap(state_);
}

int BrokerPage::map(int page_fd, int state_fd)
{
    if (!has_page(page_fd) || !has_page(state_fd))
        return -EPROTO;
    page_ = map_page(PROT_READ, MAP_SHARED, page_fd);
    state_ = page_ ? map_page(PROT_READ | PROT_WRITE, MAP_SHARED, state_fd) : nullptr;
    spare_ = state_ ? map_page(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1) : nullptr;
    if (!spare_)
        return -errno;
    spare_->version = PTSCHED_VERSION_MAJOR;
    spare_->size = sizeof(*spare_);
    spare_->state = PTSCHED_STATE_DEAD;
    return mprotect(spare_, page_size(), PROT_READ) < 0 ? -errno : 0;
}

std::uint32_t BrokerPage::clear(std::uint32_t bits)
{
    return __atomic_fetch_and(&state_->state, ~bits, __ATOMIC_ACQ_REL);
}

void BrokerPage::set_dead()
{
    Guard lock(dead_mutex);
    if (!spare_ || dead_)
        return;
    dead_ = true;
    /* The kernel replaces the mapping under its lock: no reader faults in between. */
    if (mremap(spare_, page_size(), page_size(), MREMAP_MAYMOVE | MREMAP_FIXED, page_) != MAP_FAILED)
        spare_ = nullptr;
}

} // namespace ptsched
