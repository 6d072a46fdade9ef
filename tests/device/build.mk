# SPDX-License-Identifier: MIT
# Devices and datablocks, on the virtual GPU.

DEVICE_TEST_SRCS := $(filter-out %/bench-device.cpp,$(wildcard tests/device/*.cpp))

# Linked with the driver so that the one of the virtual GPU is found.
$(B)/tests/device: $(call objects,$(DEVICE_TEST_SRCS)) $(PTASK_INSIDES) $(B)/bin/ptschedd $(B)/bin/ptsched $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so \
		$(addprefix $(B)/vgpu/,kernels.so ptx/ptsched_pieces.so ptx/ptsched_multiply_add.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/device

# The host's cost, with a driver that does nothing; not a test.
$(B)/tests/bench-device: $(B)/obj/tests/device/bench-device.cpp.o $(DEVICE_SO) $(B)/samples/null-driver/libcuda.so.1
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< -L$(B)/lib -lptsched-device -Wl,--no-as-needed $(B)/samples/null-driver/libcuda.so.1 \
		-Wl,-rpath,'$$ORIGIN/../samples/null-driver:$$ORIGIN/../lib'
