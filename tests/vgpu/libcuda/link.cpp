// SPDX-License-Identifier: MIT
#include "tests/vgpu/libcuda/link.h"

#include "libptsched/base/lock.hpp"
#include "tests/vgpu/rm.h"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace vgpu {

namespace {

class DeviceLink final : public Link {
public:
    explicit DeviceLink(int fd) : fd_(fd) {}
    ~DeviceLink() override { close(fd_); }

    int info(vgpu_info &info) override { return call(VGPU_IOC_INFO, &info); }
    int create_context(vgpu_context_create &arg) override { return call(VGPU_IOC_CONTEXT, &arg); }
    int create_channel(vgpu_channel_create &arg) override { return call(VGPU_IOC_CHANNEL, &arg); }
    int control(vgpu_control &arg) override { return call(VGPU_IOC_CONTROL, &arg); }
    int memory(vgpu_memory &arg) override { return call(VGPU_IOC_MEMORY, &arg); }
    int resource_manager(unsigned long request, void *arg) override { return call(request, arg); }
    int fd() const override { return fd_; }
    int reset_stats() override { return call(VGPU_IOC_RESET_STATS, nullptr); }
    void abandon() override { close(fd_); }

    int destroy(std::uint32_t handle) override
    {
        vgpu_destroy arg{handle, 0};
        return call(VGPU_IOC_DESTROY, &arg);
    }

    int submit(const vgpu_work *works, std::uint32_t count) override
    {
        vgpu_submit arg{reinterpret_cast<std::uintptr_t>(works), count, 0};
        int error = call(VGPU_IOC_SUBMIT, &arg);
        return error ? error : (arg.accepted == count ? 0 : -EAGAIN);
    }

    bool receive(std::vector<vgpu_completion> &completions) override
    {
        completions.resize(64);
        for (;;) {
            ssize_t n = read(fd_, completions.data(), completions.size() * sizeof(completions[0]));
            if (n < 0 && errno == EINTR)
                continue;
            completions.resize(n > 0 ? static_cast<std::size_t>(n) / sizeof(completions[0]) : 0);
            return n > 0;
        }
    }

    int stats(vgpu_device_stats &stats, std::vector<vgpu_owner_stats> &owners) override
    {
        /* Owners may appear between the two calls. */
        for (std::size_t room = 64;; room = stats.owner_count) {
            owners.resize(room);
            stats.owner_count = static_cast<std::uint32_t>(room);
            stats.owners = reinterpret_cast<std::uintptr_t>(owners.data());
            int error = call(VGPU_IOC_STATS, &stats);
            if (error || stats.owner_count <= room) {
                owners.resize(error ? 0 : stats.owner_count);
                return error;
            }
        }
    }

private:
    int call(unsigned long request, void *arg) const
    {
        int result;
        do
            result = ioctl(fd_, request, arg);
        while (result < 0 && errno == EINTR);
        return result < 0 ? -errno : 0;
    }

    int fd_;
};

/*
 * Whoever waits for an answer reads the socket unless another thread does so already, in which case that one hands the
 * answer over; so requests work with and without a reader thread.
 */
class SocketLink final : public Link {
public:
    explicit SocketLink(int fd) : fd_(fd) {}
    ~SocketLink() override { close(fd_); }

    int info(vgpu_info &info) override { return fixed(VGPU_IOC_INFO, info); }
    int create_context(vgpu_context_create &arg) override { return fixed(VGPU_IOC_CONTEXT, arg); }
    int create_channel(vgpu_channel_create &arg) override { return fixed(VGPU_IOC_CHANNEL, arg); }
    int control(vgpu_control &arg) override { return fixed(VGPU_IOC_CONTROL, arg); }
    int memory(vgpu_memory &arg) override { return fixed(VGPU_IOC_MEMORY, arg); }
    void abandon() override { close(fd_); }
    int fd() const override { return fd_; }

    int destroy(std::uint32_t handle) override
    {
        vgpu_destroy arg{handle, 0};
        return fixed(VGPU_IOC_DESTROY, arg);
    }

    int resource_manager(unsigned long request, void *arg) override
    {
        if (request == VGPU_RM_ALLOC) {
            auto &alloc = *static_cast<vgpu_rm_alloc *>(arg);
            return with_params(request, alloc, alloc.params, alloc.params_size);
        }
        if (request == VGPU_RM_CONTROL) {
            auto &control = *static_cast<vgpu_rm_control *>(arg);
            return with_params(request, control, control.params, control.params_size);
        }
        return request == VGPU_RM_FREE ? fixed(request, *static_cast<vgpu_rm_free *>(arg)) : -ENOTTY;
    }

    int reset_stats() override
    {
        std::vector<char> reply;
        return transact(VGPU_IOC_RESET_STATS, nullptr, 0, reply);
    }

    int submit(const vgpu_work *works, std::uint32_t count) override
    {
        return send_message(VGPU_IOC_SUBMIT, works, count * sizeof(*works), 0);
    }

    bool receive(std::vector<vgpu_completion> &completions) override
    {
        ptsched::Lock lock(mutex_);
        while (!failed_ && completions_.empty())
            read_or_wait(lock);
        completions.swap(completions_);
        completions_.clear();
        return !completions.empty();
    }

    int stats(vgpu_device_stats &stats, std::vector<vgpu_owner_stats> &owners) override
    {
        std::vector<char> reply;
        int error = transact(VGPU_IOC_STATS, &stats, sizeof(stats), reply);
        if (error)
            return error;
        if (reply.size() < sizeof(stats))
            return -EPROTO;
        std::memcpy(&stats, reply.data(), sizeof(stats));
        owners.resize((reply.size() - sizeof(stats)) / sizeof(owners[0]));
        if (!owners.empty())
            std::memcpy(owners.data(), reply.data() + sizeof(stats), owners.size() * sizeof(owners[0]));
        return 0;
    }

private:
    struct Reply {
        int result;
        std::vector<char> data;
    };

    template <typename T> int fixed(unsigned long request, T &arg)
    {
        std::vector<char> reply;
        int error = transact(request, &arg, sizeof(arg), reply);
        if (!error && reply.size() != sizeof(arg))
            return -EPROTO;
        if (!error)
            std::memcpy(&arg, reply.data(), sizeof(arg));
        return error;
    }

    template <typename T> int with_params(unsigned long request, T &arg, std::uint64_t params, std::uint32_t size)
    {
        auto *in_out = reinterpret_cast<char *>(static_cast<std::uintptr_t>(params));
        auto *bytes = reinterpret_cast<const char *>(&arg);
        std::vector<char> message(bytes, bytes + sizeof(arg)), reply;
        if (size > VGPU_RM_MAX_PARAMS)
            return -EINVAL;
        message.insert(message.end(), in_out, in_out + size);
        int error = transact(request, message.data(), message.size(), reply);
        if (error)
            return error;
        if (reply.size() != sizeof(arg) && reply.size() != message.size())
            return -EPROTO;
        std::memcpy(&arg, reply.data(), sizeof(arg));
        if (reply.size() == message.size() && size)
            std::memcpy(in_out, reply.data() + sizeof(arg), size);
        return 0;
    }

    int send_message(unsigned long request, const void *data, std::size_t size, std::uint32_t cookie)
    {
        vgpu_message header{static_cast<std::uint32_t>(_IOC_NR(request)), static_cast<std::uint32_t>(size), 0, cookie};
        iovec parts[2] = {{&header, sizeof(header)}, {const_cast<void *>(data), size}};
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = size ? 2 : 1;
        ptsched::Guard lock(send_mutex_);
        while (message.msg_iovlen) {
            ssize_t n = sendmsg(fd_, &message, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return -errno;
            for (auto sent = static_cast<std::size_t>(n); message.msg_iovlen;) {
                std::size_t step = std::min(sent, message.msg_iov->iov_len);
                message.msg_iov->iov_base = static_cast<char *>(message.msg_iov->iov_base) + step;
                message.msg_iov->iov_len -= step;
                sent -= step;
                if (message.msg_iov->iov_len)
                    break;
                message.msg_iov++;
                message.msg_iovlen--;
            }
        }
        return 0;
    }

    int transact(unsigned long request, const void *data, std::size_t size, std::vector<char> &reply)
    {
        std::uint32_t cookie = ++cookies_;
        int error = send_message(request, data, size, cookie);
        if (error)
            return error;
        ptsched::Lock lock(mutex_);
        for (;;) {
            auto found = replies_.find(cookie);
            if (found != replies_.end()) {
                int result = found->second.result;
                reply = std::move(found->second.data);
                replies_.erase(found);
                return result;
            }
            if (failed_)
                return -ECONNRESET;
            read_or_wait(lock);
        }
    }

    void read_or_wait(ptsched::Lock &lock) PTSCHED_REQUIRES(mutex_)
    {
        if (reading_) {
            arrived_.wait(lock);
            return;
        }
        reading_ = true;
        lock.unlock(mutex_);
        vgpu_message header;
        std::vector<char> data;
        bool ok = read_all(&header, sizeof(header)) && header.size <= VGPU_MSG_MAX_SIZE;
        if (ok) {
            data.resize(header.size);
            ok = read_all(data.data(), data.size());
        }
        lock.lock(mutex_);
        reading_ = false;
        if (!ok)
            failed_ = true;
        else if (header.op == VGPU_MSG_COMPLETIONS)
            keep_completions(data);
        else if (header.cookie)
            replies_[header.cookie] = {header.result, std::move(data)};
        else
            failed_ = true; /* a submission was refused: accounts would never balance again */
        arrived_.notify_all();
    }

    void keep_completions(const std::vector<char> &data) PTSCHED_REQUIRES(mutex_)
    {
        std::size_t old = completions_.size();
        completions_.resize(old + data.size() / sizeof(vgpu_completion));
        if (data.empty())
            return;
        std::memcpy(completions_.data() + old, data.data(), (completions_.size() - old) * sizeof(vgpu_completion));
    }

    bool read_all(void *to, std::size_t size) const
    {
        auto *at = static_cast<char *>(to);
        while (size) {
            ssize_t n = recv(fd_, at, size, 0);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return false;
            at += n;
            size -= static_cast<std::size_t>(n);
        }
        return true;
    }

    int fd_;
    std::atomic<std::uint32_t> cookies_{0};
    ptsched::Mutex send_mutex_; /* so that messages go whole */
    ptsched::Mutex mutex_;
    std::condition_variable arrived_;
    bool reading_ PTSCHED_GUARDED_BY(mutex_) = false;
    bool failed_ PTSCHED_GUARDED_BY(mutex_) = false;
    std::map<std::uint32_t, Reply> replies_ PTSCHED_GUARDED_BY(mutex_);
    std::vector<vgpu_completion> completions_ PTSCHED_GUARDED_BY(mutex_);
};

int connect_socket(const char *path)
{
    sockaddr_un address{};
    if (std::strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path);
    if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

} // namespace

std::unique_ptr<Link> open_link()
{
    const char *device = std::getenv("PTSCHED_VGPU_DEVICE");
    const char *path = std::getenv("PTSCHED_VGPU_SOCKET");
    int fd = path ? -1 : open(device ? device : "/dev/vgpu", O_RDWR | O_CLOEXEC);

    if (fd >= 0)
        return std::make_unique<DeviceLink>(fd);
    fd = connect_socket(path ? path : "/run/ptsched/vgpu.sock");
    if (fd >= 0)
        return std::make_unique<SocketLink>(fd);
    return nullptr;
}

} // namespace vgpu
