/* SPDX-License-Identifier: MIT */
/* What keeps the kernel wait_for_host of tests/vgpu/programs/kernels.cu running, until the test has it end. */
#ifndef PTSCHED_TESTS_HOST_FLAG_H
#define PTSCHED_TESTS_HOST_FLAG_H

#include <ptsched/device/datablock.hpp>

#include <atomic>

namespace test {

/* One at a time. Is raised when it goes, so that nothing waits for a kernel that waits for a test which has failed. */
class HostFlag {
public:
    static constexpr unsigned raised = 7;

    HostFlag() { lower(); }
    ~HostFlag() { raise(); }
    HostFlag(const HostFlag &) = delete;
    HostFlag &operator=(const HostFlag &) = delete;

    void raise() { value().store(raised); }
    void lower() { value().store(0); }
    bool is_raised() const { return value().load() == raised; }
    /* Where kernels find it; what they say that they have seen there is @raised. */
    static const ptsched::device::Address &address()
    {
        using namespace ptsched::device;
        /* For good: a kernel may look at it later than the test. */
        static const auto &block = *new DatablockPtr(Datablock::empty(sizeof(unsigned)));
        static const Address address = block->produce(host(), *host().make_queue());
        return address;
    }

private:
    static std::atomic_ref<unsigned> value()
    {
        return std::atomic_ref(*static_cast<unsigned *>(ptsched::device::host_pointer(address())));
    }
};

} // namespace test

#endif /* PTSCHED_TESTS_HOST_FLAG_H */
