// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/gpu/lane.hpp"

#include "tools/ptcryptfs/gpu/kernel_image.hpp"
#include <ptsched/device/turns.hpp>

namespace ptcryptfs {

namespace {

using ptsched::device::Datablock;
using ptsched::device::DatablockPtr;
namespace ptask = ptsched::ptask;
using Clock = std::chrono::steady_clock;

/* 16 bytes, of which a thread has one. */
struct alignas(16) Block {
    std::byte bytes[16];
};
constexpr std::size_t most_sectors = std::size_t{1} << 20;

} // namespace

Lane::Lane()
    : graph_({.attach = ptask::Attach::if_possible}),
      task_(graph_.cuda_image("xts", ptask::image_of(kernel_image(), "ptcryptfs_xts"),
                              {ptask::inout("data", ptask::Template::variable<Block>(most_sectors * sector_bytes / 16)),
                               ptask::by_value(ptask::in("request", ptask::Template::of<aes::Request>(1)))})),
      data_(graph_.input(task_["data"])), request_(graph_.input(task_["request"])),
      result_(graph_.output(task_["data"]))
{
    graph_.run();
}

void Lane::run(const aes::Request &request, Bytes sectors, const RequesterPtr &whose)
{
    work_for(whose);
    DatablockPtr result;
    try {
        /* The caller's memory, which is there as long as this call, and as its lane if that fails. */
        data_.push(Datablock::over(sectors.data(), sectors.size(), {std::shared_ptr<void>(), sectors.data()}));
        request_.push_value(request);
        result = result_.pull();
        result->wait();
    } catch (const std::exception &error) {
        throw NotDone(error.what());
    }
    result->read_into(sectors.data());
    last_end_ = Clock::now();
}

bool Lane::works_for(const RequesterPtr &whose) const
{
    return whose && requester_ ? requester_->is(*whose) : whose == requester_;
}

/* A turn is one requester's for a while, whoever follows. */
bool Lane::has_rested() const
{
    return Clock::now() - last_end_ >= std::chrono::nanoseconds(ptsched::device::Turns::requester_ns);
}

/* Who has gone meanwhile need not be worked for any more. */
void Lane::work_for(const RequesterPtr &whose)
{
    if (works_for(whose))
        return;
    try {
        graph_.work_for(whose ? whose->pidfd() : -1);
        requester_ = whose;
    } catch (const ptsched::Error &) {
        graph_.work_for(-1);
        requester_ = nullptr;
    }
}

} // namespace ptcryptfs
