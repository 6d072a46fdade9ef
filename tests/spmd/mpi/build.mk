# SPDX-License-Identifier: MIT
# Jobs by ranks that are processes of MPI, on this host alone.
$(B)/obj/tests/spmd/mpi/%.o: CPPFLAGS += $(patsubst -I%,-isystem %,$(SPMD_MPI_CPPFLAGS)) -DOMPI_SKIP_MPICXX

$(B)/tests/spmd-mpi: $(call objects,$(wildcard tests/spmd/mpi/*.cpp) tests/spmd/run/words.cpp) $(SPMD_MPI_OBJS) $(SPMD_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a \
		$(B)/bin/ptsched-roofline $(B)/lib/libptsched-spmd-mpi.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl $(SPMD_MPI_LIBS)

ifneq ($(SPMD_MPI_LIBS),)
TESTS += $(B)/tests/spmd-mpi
# MPI's library has been built without one.
TESTS_NOSAN += $(B)/tests/spmd-mpi
endif
