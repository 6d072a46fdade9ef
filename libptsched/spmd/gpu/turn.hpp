/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_GPU_TURN_HPP
#define PTSCHED_SPMD_GPU_TURN_HPP

#include <ptsched/device/turns.hpp>

namespace ptsched::spmd {

/* Null if there is no scheduler, or this is not to @attach to it. */
inline std::unique_ptr<device::Turns> open_turns(device::Device &gpu, bool attach)
{
    return device::Turns::open(gpu, attach ? device::Attach::if_possible : device::Attach::no,
                               {.user = "program", .library = "spmd"});
}

/* One piece of work on the GPU, in a turn of ptsched's if there are some. */
class Turn {
public:
    explicit Turn(device::Turns *turns) : turns_(turns), exempt_(turns != nullptr)
    {
        if (turns_)
            turns_->wait_to_begin();
    }
    ~Turn()
    {
        if (turns_)
            turns_->ended();
    }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

private:
    device::Turns *const turns_;
    const device::Exempt exempt_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_TURN_HPP */
