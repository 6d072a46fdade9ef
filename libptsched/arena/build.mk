# SPDX-License-Identifier: MIT
# libptsched-arena.so: one address for CPU and GPUs, and calls across, on top of libptsched-pool.so.
ARENA_SRCS := $(wildcard libptsched/arena/*.cpp libptsched/arena/*/*.cpp) \
	$(addprefix libptsched/base/,bad_access.cpp c_error.cpp)
ARENA_OBJS := $(call objects,$(ARENA_SRCS))
# What kernels include.
ARENA_HEADERS := $(wildcard $(addprefix libptsched/include/ptsched/,arena.cuh arena/*.h arena/*.hpp arena/*.cuh arena/*/*.h \
	pool.cuh pool/*.h))
ARENA_SO   := $(B)/lib/libptsched-arena.so

$(ARENA_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS)
$(ARENA_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS) $(DESCRIBED)
# By their names: the files that have variables for them are read later.
$(ARENA_SO).$(VERSION): $(ARENA_OBJS) $(addprefix $(B)/lib/,libptsched-pool.so libptsched-device.so) libptsched/arena/libptsched-arena.map
	$(call link_library,-L$(B)/lib -lptsched-pool -lptsched-device)

ALL += $(ARENA_SO)
