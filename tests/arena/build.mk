# SPDX-License-Identifier: MIT
# Arenas on the virtual GPU.

$(B)/vgpu/arena-kernels.so: tests/arena/kernels.cu tests/arena/nodes.h $(ARENA_HEADERS) $(VGPU_CC)
	$(compile_for_vgpu)
# For the test on a GPU: build/tests/arena gpu build/tests/arena-kernels.fatbin
$(B)/tests/arena-kernels.fatbin: tests/arena/kernels.cu tests/arena/nodes.h $(ARENA_HEADERS)
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -Ilibptsched/include -fatbin -o $@ $<

$(B)/tests/arena: $(call objects,$(wildcard tests/arena/*.c tests/arena/*.cpp) tests/device/rival.cpp) $(sort $(ARENA_OBJS) $(POOL_OBJS) $(DEVICE_OBJS)) $(B)/lib/libptsched-core.a \
		$(B)/bin/ptschedd $(B)/bin/ptsched $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(addprefix $(B)/vgpu/,arena-kernels.so ptx/ptsched_arena_compare.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/arena
