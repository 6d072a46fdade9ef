// SPDX-License-Identifier: MIT
/* A kind of device of the program's own, which the libraries know by its base. */
#include <ptsched/device/device.hpp>

#include <cstdio>
#include <new>

using namespace ptsched::device;

namespace {

class Heap final : public Device {
public:
    const std::string &name() const override { return name_; }
    Address allocate(std::size_t bytes) override { return reinterpret_cast<std::uintptr_t>(::operator new(bytes)); }
    void release(Address address, std::size_t) noexcept override { ::operator delete(host_pointer(address)); }
    std::unique_ptr<Queue> make_queue() override { return host().make_queue(); }
    Queue &outgoing() override { return host().outgoing(); }
    bool orders_others() const override { return false; }

private:
    const std::string name_ = "heap";
};

} // namespace

int main()
{
    Heap heap;
    const Address address = heap.allocate(4);
    heap.release(address, 4);
    try {
        heap.wrap_stream(nullptr);
    } catch (const Error &) {
        std::printf("42\n");
    }
    return 0;
}
