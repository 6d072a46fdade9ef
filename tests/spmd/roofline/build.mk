# SPDX-License-Identifier: MIT
# What is measured of machines, on the virtual GPU, and how it is kept and shown.
SPMD_ROOFLINE_OBJS := $(call objects,$(wildcard libptsched/spmd/roofline/*.cpp libptsched/spmd/model/*.cpp))

$(B)/tests/spmd-roofline: $(call objects,$(wildcard tests/spmd/roofline/*.cpp)) $(SPMD_ROOFLINE_OBJS) \
		$(ROOFLINE_TOOL_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/ptx/ptsched_multiply_add.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/spmd-roofline
