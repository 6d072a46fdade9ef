/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_CLIENT_GROUP_HPP
#define PTSCHED_CLIENT_GROUP_HPP

#include <string>

namespace ptsched {

/*
 * The group that this process is in, as its environment says: what PTSCHED_GROUP names, or what one that starts
 * programs of several processes (torchrun, mpirun, srun) tells them. It fits into ptsched_group.name; empty: none.
 */
std::string group_of_environment();

} // namespace ptsched

#endif
