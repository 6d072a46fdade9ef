# SPDX-License-Identifier: MIT
# What maps on GPUs, by itself, on the virtual GPU.
SPMD_CUH := $(wildcard libptsched/include/ptsched/spmd.cuh libptsched/include/ptsched/spmd/*.cuh libptsched/include/ptsched/spmd/*.h)

$(B)/vgpu/spmd-test.so: tests/spmd/gpu/kernels.cu $(SPMD_CUH) $(VGPU_CC)
	$(compile_for_vgpu)

$(B)/tests/spmd-gpu: $(call objects,$(wildcard tests/spmd/gpu/*.cpp) tests/device/rival.cpp) $(SPMD_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a \
		$(B)/bin/ptschedd $(B)/bin/ptsched $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/kernels.so $(B)/vgpu/spmd-test.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/spmd-gpu
