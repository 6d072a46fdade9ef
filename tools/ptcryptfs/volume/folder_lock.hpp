/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_VOLUME_FOLDER_LOCK_HPP
#define PTCRYPTFS_VOLUME_FOLDER_LOCK_HPP

#include <ptsched/base/fd.hpp>

#include <filesystem>
#include <string>

namespace ptcryptfs {

enum class Lock { shared, alone };

/*
 * @folder is locked as long as the descriptor is open, against other processes that do the same. Throws Error, which is
 * @otherwise if one of them has it for two seconds: one that has just been unmounted may not have ended yet.
 */
ptsched::UniqueFd lock_folder(const std::filesystem::path &folder, Lock how, const std::string &otherwise);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_VOLUME_FOLDER_LOCK_HPP */
