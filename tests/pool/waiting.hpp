/* SPDX-License-Identifier: MIT */
/* A task that lasts until the test says so. */
#ifndef TEST_POOL_WAITING_HPP
#define TEST_POOL_WAITING_HPP

#include "tests/host_flag.h"
#include "tests/pool/cases.hpp"
#include <ptsched/device/allocation.hpp>

#include <atomic>
#include <thread>

namespace test {

class Waiting {
public:
    /* Ends no later than this does. */
    Waiting() { begun().store(0); }

    /* A pool's only task begins. */
    void begin(Mixed &pool, const pool::Push &how = {})
    {
        pool.push(task(), how);
        wait_until_begun();
    }
    Wait task() const { return {static_cast<const unsigned *>(device::host_pointer(HostFlag::address())), word(), 0}; }
    void wait_until_begun() const
    {
        while (!begun().load())
            std::this_thread::yield();
    }
    void end() { flag_.raise(); }

private:
    /* For good: a kernel may look at it later than the test. */
    static unsigned *word()
    {
        static auto &memory = *new device::Allocation(device::Allocation::pinned(sizeof(unsigned)));
        return static_cast<unsigned *>(memory.host_address());
    }
    static std::atomic_ref<unsigned> begun() { return std::atomic_ref(*word()); }

    HostFlag flag_;
};

} // namespace test

#endif /* TEST_POOL_WAITING_HPP */
