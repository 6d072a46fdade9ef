// SPDX-License-Identifier: MIT
/* The module: one ioctl per call. It checks everything itself, the owner included. */
#include "libptsched/base/kept_fd.hpp"
#include "libptsched/base/start_path.hpp"
#include "libptsched/client/transport.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

namespace ptsched {
namespace {

class ModuleTransport final : public Transport {
public:
    explicit ModuleTransport(UniqueFd fd) : fd_(std::move(fd)), owner_(getpid()) {}

    ~ModuleTransport() override
    {
        /* The mapping is not inherited; in a forked child the address may be another's. */
        if (page_ && getpid() == owner_)
            munmap(page_, page_size_);
    }

    ptsched_backend backend() const override { return PTSCHED_BACKEND_MODULE; }
    int query(Query &query) override { return issue(PTSCHED_IOC_QUERY, &query); }

    int attach(Attach &attach) override
    {
        Query what = sized<Query>();
        int ret = query(what);
        if (!ret)
            ret = issue(PTSCHED_IOC_ATTACH, &attach);
        return ret ? ret : map(what.page_size);
    }

    int acquire(Acquire &acquire) override { return issue(PTSCHED_IOC_ACQUIRE, &acquire); }
    int release(const Release &release) override { return issue(PTSCHED_IOC_RELEASE, &release); }
    int report(const Report &report) override { return issue(PTSCHED_IOC_REPORT, &report); }
    int ack(const Ack &ack) override { return issue(PTSCHED_IOC_ACK, &ack); }
    int poll_fd() const override { return fd_.is_ours() ? fd_.get() : -1; }
    int hand_over() override
    {
        const HandOver argument = sized<HandOver>();
        int ret = issue(PTSCHED_IOC_HAND_OVER, &argument);
        return ret ? ret : fd_.get();
    }
    const ptsched_page *page() const override { return static_cast<const ptsched_page *>(page_); }

private:
    int call(std::uint32_t number, void *argument, std::uint32_t, int) override { return issue(number, argument); }

    int issue(unsigned long request, const void *argument)
    {
        if (!fd_.is_ours())
            return -EBADFD;
        return ioctl(fd_.get(), request, argument) < 0 ? -errno : 0;
    }

    int map(std::size_t size)
    {
        void *page = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_.get(), PTSCHED_PAGE_OFFSET);
        if (page == MAP_FAILED)
            return -errno;
        page_ = page;
        page_size_ = size;
        return 0;
    }

    KeptFd fd_;
    pid_t owner_;
    void *page_ = nullptr;
    std::size_t page_size_ = 0;
};

} // namespace

int open_module(std::unique_ptr<Transport> &transport)
{
    const char *node = secure_getenv("PTSCHED_DEVICE_NODE");
    const std::string path = node ? start_path(node) : "/dev/" PTSCHED_NODE_NAME;
    UniqueFd fd = above_streams(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd)
        return errno == ENODEV || errno == ENXIO || errno == ENOTDIR ? -ENOENT : -errno;
    transport = std::make_unique<ModuleTransport>(std::move(fd));
    return 0;
}

} // namespace ptsched
