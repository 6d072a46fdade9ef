# SPDX-License-Identifier: MIT
# libptsched-tasks.so: tasks with in, out and inout, on top of libptsched-device.so.
TASKS_SRCS := $(wildcard libptsched/tasks/*.cpp libptsched/tasks/*/*.cpp) \
	$(addprefix libptsched/base/,bad_access.cpp c_error.cpp nvtx.cpp trace_events.cpp)
TASKS_OBJS := $(call objects,$(TASKS_SRCS))
TASKS_SO   := $(B)/lib/libptsched-tasks.so

$(TASKS_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS)
$(TASKS_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS) $(DESCRIBED)
$(TASKS_SO).$(VERSION): $(TASKS_OBJS) $(DEVICE_SO) libptsched/tasks/libptsched-tasks.map
	$(call link_library,-L$(B)/lib -lptsched-device)

ALL += $(TASKS_SO)
