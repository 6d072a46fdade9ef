# SPDX-License-Identifier: MIT
# libptsched-arena.so: one address for CPU and GPUs, on top of libptsched-device.so.
ARENA_SRCS := $(wildcard libptsched/arena/*.cpp libptsched/arena/*/*.cpp) \
	$(addprefix libptsched/base/,bad_access.cpp c_error.cpp)
ARENA_OBJS := $(ARENA_SRCS:%=$(B)/obj/%.o)
ARENA_SO   := $(B)/lib/libptsched-arena.so

$(ARENA_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS)
$(ARENA_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS) $(DESCRIBED)
$(ARENA_SO).$(VERSION): $(ARENA_OBJS) $(DEVICE_SO) libptsched/arena/libptsched-arena.map
	$(call link_library,-L$(B)/lib -lptsched-device)

ALL += $(ARENA_SO)
