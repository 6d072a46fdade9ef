# SPDX-License-Identifier: MIT
# The programs of samples/spmd, on the virtual GPU.
$(B)/obj/tests/spmd/programs/main.cpp.o: CPPFLAGS += -DSPMD_PROGRAMS='"$(SPMD_PROGRAMS)"' -DSPMD_PROGRAMS_ARE_BUILT=$(if $(SPMD_HAS_MPI),true,false)
# A new program is a new test.
$(B)/obj/tests/spmd/programs/main.cpp.o: samples/spmd/build.mk

$(B)/tests/spmd-programs: $(B)/obj/tests/spmd/programs/main.cpp.o $(SPMD_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so \
		$(if $(SPMD_HAS_MPI),$(SPMD_PROGRAMS:%=$(B)/samples/spmd-%) $(B)/samples/spmd-summary $(SPMD_WITH_KERNELS:%=$(B)/vgpu/spmd-%.so) $(SPMD_WITH_DEVICE:%=$(B)/vgpu/spmd-%-device.so))
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

# Of sanitizers, the programs would need their libraries.
TESTS       += $(B)/tests/spmd-programs
TESTS_NOSAN += $(B)/tests/spmd-programs
