/* SPDX-License-Identifier: MIT */
/* The way to the engine: /dev/vgpu or vgpud's socket. */
#ifndef VGPU_LIBCUDA_LINK_H
#define VGPU_LIBCUDA_LINK_H

#include "tests/vgpu/vgpu.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace vgpu {

/*
 * Requests may come from any thread. receive() is for one reader thread; it blocks until something has been completed,
 * and returns false when the engine is gone. Negative results are -errno.
 */
class Link {
public:
    virtual ~Link() = default;

    virtual int info(vgpu_info &info) = 0;
    virtual int create_context(vgpu_context_create &arg) = 0;
    virtual int create_channel(vgpu_channel_create &arg) = 0;
    virtual int destroy(uint32_t handle) = 0;
    virtual int control(vgpu_control &arg) = 0;
    virtual int memory(vgpu_memory &arg) = 0;
    /* The caller keeps within VGPU_RING_ITEMS and VGPU_CLIENT_ITEMS. */
    virtual int submit(const vgpu_work *works, uint32_t count) = 0;
    virtual bool receive(std::vector<vgpu_completion> &completions) = 0;
    /*
     * One of the resource manager's ioctls (rm.h), as the kernel would carry it out on fd(): -errno, or 0 with the
     * status in the structure.
     */
    virtual int resource_manager(unsigned long request, void *arg) = 0;
    virtual int fd() const = 0;
    virtual int stats(vgpu_device_stats &stats, std::vector<vgpu_owner_stats> &owners) = 0;
    virtual int reset_stats() = 0;
    /* In the child of a fork: closes the file, and touches no lock. */
    virtual void abandon() = 0;
};

/*
 * PTSCHED_VGPU_SOCKET if it is set, else /dev/vgpu (or PTSCHED_VGPU_DEVICE) if there is one, else the socket's usual
 * place; null, with errno set, when nothing answers.
 */
std::unique_ptr<Link> open_link();

} // namespace vgpu

#endif /* VGPU_LIBCUDA_LINK_H */
