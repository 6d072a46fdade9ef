# SPDX-License-Identifier: MIT
# libptsched-spmd.so: map and reduce over CPUs, GPUs and nodes, on top of libptsched-device.so. MPI is a library of its own.
SPMD_SRCS := $(filter-out libptsched/spmd/mpi/%,$(wildcard libptsched/spmd/*.cpp libptsched/spmd/*/*.cpp)) \
	libptsched/base/trace_events.cpp
SPMD_OBJS := $(call objects,$(SPMD_SRCS))
SPMD_SO   := $(B)/lib/libptsched-spmd.so

$(SPMD_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS)
$(SPMD_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS) $(DESCRIBED)
$(SPMD_SO).$(VERSION): $(SPMD_OBJS) $(DEVICE_SO) libptsched/spmd/libptsched-spmd.map
	$(call link_library,-L$(B)/lib -lptsched-device)

ALL += $(SPMD_SO)
