# SPDX-License-Identifier: MIT
# libptsched-pool.so: tasks for kernels that stay on the GPU, on top of libptsched-device.so.
POOL_SRCS := $(wildcard libptsched/pool/*.cpp libptsched/pool/*/*.cpp) libptsched/base/c_error.cpp
POOL_OBJS := $(call objects,$(POOL_SRCS))
# What kernels include.
POOL_HEADERS := $(wildcard libptsched/include/ptsched/pool.cuh libptsched/include/ptsched/pool/*.h)
POOL_SO   := $(B)/lib/libptsched-pool.so

$(POOL_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS)
$(POOL_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS) $(DESCRIBED)
$(POOL_SO).$(VERSION): $(POOL_OBJS) $(DEVICE_SO) libptsched/pool/libptsched-pool.map
	$(call link_library,-L$(B)/lib -lptsched-device)

ALL += $(POOL_SO)
