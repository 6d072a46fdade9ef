/* SPDX-License-Identifier: MIT */
/* For loops of kernels, which the virtual GPU's compiler, too, is given. */
#ifndef SAMPLES_COMMON_UNROLLED_CUH
#define SAMPLES_COMMON_UNROLLED_CUH

#ifdef VGPU
#define UNROLLED
#else
#define UNROLLED _Pragma("unroll")
#endif

#endif /* SAMPLES_COMMON_UNROLLED_CUH */
