# SPDX-License-Identifier: MIT
# What the compiler does not see: the file is included as it is.
$(B)/obj/libptsched/arena/coherence/kernels_image.cpp.o: libptsched/arena/coherence/kernels.ptx
