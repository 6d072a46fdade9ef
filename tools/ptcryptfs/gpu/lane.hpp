/* SPDX-License-Identifier: MIT */
/* A graph that encrypts and decrypts, one request at a time. */
#ifndef PTCRYPTFS_GPU_LANE_HPP
#define PTCRYPTFS_GPU_LANE_HPP

#include "tools/ptcryptfs/crypt/engine.hpp"
#include "tools/ptcryptfs/gpu/aes.h"
#include "tools/ptcryptfs/gpu/requester.hpp"
#include <ptsched/ptask/graph.hpp>

#include <chrono>

namespace ptcryptfs {

class Lane {
public:
    Lane();
    /* For @whose; null: this process. Throws NotDone, and is to be used no more then. */
    void run(const aes::Request &request, Bytes sectors, const RequesterPtr &whose);
    bool works_for(const RequesterPtr &whose) const;
    /* Whether nothing that it does for another is taken for work of who had it last. */
    bool has_rested() const;

private:
    void work_for(const RequesterPtr &whose);

    ptsched::ptask::Graph graph_;
    ptsched::ptask::Task &task_;
    ptsched::ptask::Input &data_, &request_;
    ptsched::ptask::Output &result_;
    RequesterPtr requester_;
    std::chrono::steady_clock::time_point last_end_;
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_GPU_LANE_HPP */
