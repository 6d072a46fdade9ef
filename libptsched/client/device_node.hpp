/* SPDX-License-Identifier: MIT */
/* The nodes of GPUs in /dev, of which one is shown to a scheduler that asks for it. */
#ifndef PTSCHED_CLIENT_DEVICE_NODE_HPP
#define PTSCHED_CLIENT_DEVICE_NODE_HPP

#include <ptsched/base/fd.hpp>

#include <functional>
#include <string>

namespace ptsched {

/*
 * Opens those that may be the node of @device, a PCI address or a UUID, one after another, until @suffices says so of
 * one; closes each afterwards. An instance of a GPU that MIG divides may be on any.
 */
void try_nodes(const std::string &device, const std::function<bool(int fd)> &suffices);

} // namespace ptsched

#endif
