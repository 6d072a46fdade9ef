// SPDX-License-Identifier: MIT
#include "tools/ptschedd/shared_page.hpp"

#include "kmod/contract/announce.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/random.h>
#include <system_error>
#include <utility>

namespace ptsched {
namespace {

std::size_t page_size()
{
    static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

[[noreturn]] void fail(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

UniqueFd make_memfd(const char *name)
{
    UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd)
        fail("memfd_create");
    return fd;
}

void seal(int fd, int seals)
{
    if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_SEAL) < 0)
        fail("F_ADD_SEALS");
}

UniqueFd make_handle(const SharedPage::Secret &secret)
{
    UniqueFd fd = make_memfd("ptsched-handle");
    if (write(fd.get(), secret.data(), secret.size()) != static_cast<ssize_t>(secret.size()))
        fail("write to a memfd");
    seal(fd.get(), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return fd;
}

} // namespace

SharedPage::SharedPage()
{
    if (getrandom(secret_.data(), secret_.size(), 0) != static_cast<ssize_t>(secret_.size()))
        fail("getrandom");
    client_ends_.handle = make_handle(secret_);

    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        fail("pipe2");
    client_ends_.poll.reset(pipe[0]);
    wake_.reset(pipe[1]);
    woken_.reset(fcntl(pipe[0], F_DUPFD_CLOEXEC, 0));
    if (!woken_)
        fail("F_DUPFD_CLOEXEC");
    /* Some bytes at most are ever in it. */
    fcntl(wake_.get(), F_SETPIPE_SZ, static_cast<int>(page_size()));

    client_ends_.state = make_memfd("ptsched-page");
    int fd = client_ends_.state.get();
    if (ftruncate(fd, static_cast<off_t>(page_size())) < 0)
        fail("ftruncate");
    seal(fd, F_SEAL_SHRINK | F_SEAL_GROW);
    client_ends_.page.reset(open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC));
    if (!client_ends_.page)
        fail("opening a memfd in /proc/self/fd");
    void *address = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED)
        fail("mmap");
    page_ = static_cast<ptsched_page *>(address);
    page_->version = PTSCHED_VERSION_MAJOR;
    page_->size = sizeof(*page_);
}

SharedPage::~SharedPage()
{
    munmap(page_, page_size());
}

void SharedPage::describe_turn(const ptsp_entity &entity, std::int64_t budget_ns, std::uint64_t inflight_ns)
{
    __atomic_store_n(&page_->turn, entity.turn, __ATOMIC_RELAXED);
    __atomic_store_n(&page_->budget_ns, budget_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&page_->budget_stamp_ns, entity.granted_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&page_->granted_ns, entity.granted_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&page_->inflight_ns, inflight_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&page_->busy_until_ns, entity.busy_until_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&page_->weight, entity.weight, __ATOMIC_RELAXED);
}

/*
 * Only what changed is written: the client may have cleared TURN in a release that
 * the broker has not heard of yet.
 */
void SharedPage::set_state(std::uint32_t state)
{
    std::uint32_t gone = state_ & ~state;
    std::uint32_t added = state & ~state_;
    if (!gone && !added)
        return;
    untold_ = untold_ || ptsc_is_event(gone | added);
    /*
     * CALLBACK comes before TURN goes and the other way round: there is no
     * instant at which a submission seems in order and is not.
     */
    if (added)
        __atomic_fetch_or(&page_->state, added, __ATOMIC_ACQ_REL);
    if (gone)
        __atomic_fetch_and(&page_->state, ~gone, __ATOMIC_ACQ_REL);
    state_ = state;
}

void SharedPage::tell()
{
    if (!std::exchange(untold_, false))
        return;
    __atomic_store_n(&page_->events, ++events_, __ATOMIC_RELEASE);
    /*
     * After what it tells of: one that woke before would look again and again, and might keep the CPU from the broker.
     */
    notify();
}

void SharedPage::notify()
{
    if (pending_)
        return;
    char byte = 0;
    pending_ = write(wake_.get(), &byte, 1) == 1;
}

void SharedPage::acknowledge(std::uint32_t events)
{
    /* It may have come after the client had seen the count: it would be awake for nothing, and not know why. */
    char bytes[2];
    while (read(woken_.get(), bytes, sizeof(bytes)) > 0)
        continue;
    pending_ = false;
    if (events != events_)
        notify();
}

bool read_secret(int fd, SharedPage::Secret &secret)
{
    /* A sealed memfd answers at once; reading any other file could block the broker. */
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_WRITE &&
           pread(fd, secret.data(), secret.size(), 0) == static_cast<ssize_t>(secret.size());
}

} // namespace ptsched
