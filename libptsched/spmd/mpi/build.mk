# SPDX-License-Identifier: MIT
# libptsched-spmd-mpi.so: ranks that are MPI's processes. It is the only one that needs MPI, and is left out without it.
SPMD_MPI_CPPFLAGS := $(shell pkg-config --cflags mpi-c 2>/dev/null)
SPMD_MPI_LIBS     := $(shell pkg-config --libs mpi-c 2>/dev/null)
SPMD_MPI_SRCS := $(wildcard libptsched/spmd/mpi/*.cpp)
SPMD_MPI_OBJS := $(call objects,$(SPMD_MPI_SRCS))
SPMD_MPI_SO   := $(B)/lib/libptsched-spmd-mpi.so

$(SPMD_MPI_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS) $(patsubst -I%,-isystem %,$(SPMD_MPI_CPPFLAGS)) -DOMPI_SKIP_MPICXX
$(SPMD_MPI_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS) $(DESCRIBED)
$(SPMD_MPI_SO).$(VERSION): $(SPMD_MPI_OBJS) $(B)/lib/libptsched-spmd.so libptsched/spmd/mpi/libptsched-spmd-mpi.map
	$(call link_library,-L$(B)/lib -lptsched-spmd $(SPMD_MPI_LIBS))

ifneq ($(SPMD_MPI_LIBS),)
ALL += $(SPMD_MPI_SO)
endif
