/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_GPU_SCHEDULES_HPP
#define PTCRYPTFS_GPU_SCHEDULES_HPP

#include "tools/ptcryptfs/crypt/secret.hpp"
#include "tools/ptcryptfs/gpu/aes.h"

namespace ptcryptfs::aes {

/* Of a key of 64 bytes, as IEEE 1619 has it. FIPS 197, 5.2, and for decryption 5.3.5. */
Schedules make_schedules(ConstBytes key, bool decrypts);

} // namespace ptcryptfs::aes

#endif /* PTCRYPTFS_GPU_SCHEDULES_HPP */
