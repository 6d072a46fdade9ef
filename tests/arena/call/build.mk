# SPDX-License-Identifier: MIT
# Functions called across, on the virtual GPU.

$(B)/vgpu/arena-call.so: tests/arena/call/kernels.cu tests/arena/call/types.h $(ARENA_HEADERS) $(VGPU_CC)
	$(compile_for_vgpu)

$(B)/obj/tests/arena/call/programs.cpp.o: CPPFLAGS += -DARENA_CALLS_IS_BUILT=$(if $(SAN),false,true)

$(B)/tests/arena-call: $(call objects,$(wildcard tests/arena/call/*.cpp tests/arena/call/*.c) tests/device/rival.cpp) \
		$(sort $(ARENA_OBJS) $(POOL_OBJS) $(PTASK_OBJS) $(DEVICE_OBJS)) $(B)/lib/libptsched-core.a \
		$(B)/bin/ptschedd $(B)/bin/ptsched $(B)/vgpu/vgpud $(addprefix $(B)/vgpu/,libcuda.so arena-call.so) \
		$(if $(SAN),,$(B)/samples/arena-calls $(B)/vgpu/arena-calls.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/arena-call
