/* SPDX-License-Identifier: MIT */
/*
 * The datablocks in a device's memory, for when it is full: copies that nobody uses make room, those first that exist
 * elsewhere, the longest unused first. For kinds of devices, whose Device::residents() says where they are.
 */
#ifndef PTSCHED_DEVICE_RESIDENTS_HPP
#define PTSCHED_DEVICE_RESIDENTS_HPP

#include <cstddef>
#include <memory>

#pragma GCC visibility push(default)

namespace ptsched::device {

class Device;

/*
 * Whether a datablock's copy on one device is that on the other, too, at the same address: one has the residents of the
 * other, for which they were made, and whose memory it allocates.
 */
bool have_one_memory(const Device &one, const Device &other);

/* Thread-safe. */
class Residents {
public:
    /* None yet. Whoever makes them keeps them for as long as the device has memory. */
    static std::shared_ptr<Residents> make(Device &device);
    Residents(const Residents &) = delete;
    Residents &operator=(const Residents &) = delete;

    /*
     * Tries to release as much, and first what costs least: what exists elsewhere, what must be copied to the host,
     * and what work uses that queues have, after it. Waits for such work, and for nothing else. False if nothing was
     * released. Throws Error if such work fails.
     */
    bool make_room(std::size_t bytes);

protected:
    Residents() = default;
    ~Residents() = default;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_RESIDENTS_HPP */
