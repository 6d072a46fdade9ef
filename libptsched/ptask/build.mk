# SPDX-License-Identifier: MIT
# libptask.so: graphs of tasks for accelerators and the host, on top of libptsched-device.so.
PTASK_SRCS := $(wildcard libptsched/ptask/*/*.cpp) $(addprefix libptsched/base/,worker.cpp c_error.cpp nvtx.cpp trace_events.cpp)
PTASK_OBJS := $(call objects,$(PTASK_SRCS))
PTASK_SO   := $(B)/lib/libptask.so
# For programs of the tree: a program in C names nothing of the second, which is found by the program's path all the same.
PTASK_LINK := -L$(B)/lib -Wl,--push-state,--no-as-needed -lptask -lptsched-device -Wl,--pop-state
# What tests of its insides are linked with instead.
PTASK_INSIDES := $(PTASK_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a

$(PTASK_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS)
$(PTASK_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS)
# Where functions are that programs call.
$(filter $(addprefix $(B)/obj/libptsched/ptask/,api/% graph/% ipc/%),$(PTASK_OBJS)): CXXFLAGS += $(DESCRIBED)
$(PTASK_SO).$(VERSION): $(PTASK_OBJS) $(DEVICE_SO) $(B)/lib/libptsched-core.a libptsched/ptask/libptask.map
	$(call link_library,-L$(B)/lib -lptsched-device)

ALL += $(PTASK_SO)
