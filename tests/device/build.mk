# SPDX-License-Identifier: MIT
# Devices and datablocks, on the virtual GPU.
$(B)/obj/tests/device/%.o: CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/ptask -Itests/vgpu

DEVICE_TEST_SRCS := $(filter-out %/bench-device.cpp,$(wildcard tests/device/*.cpp))

# Linked with the driver so that the one of the virtual GPU is found.
$(B)/tests/device: $(DEVICE_TEST_SRCS:%=$(B)/obj/%.o) $(B)/lib/libptask.so $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so \
		$(B)/vgpu/kernels.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptask -Wl,--no-as-needed -L$(B)/vgpu -lcuda \
		-Wl,-rpath,'$$ORIGIN/../vgpu:$$ORIGIN/../lib'

TESTS += $(B)/tests/device

# The host's cost, with a driver that does nothing; not a test.
$(B)/tests/bench-device: $(B)/obj/tests/device/bench-device.cpp.o $(B)/lib/libptask.so $(B)/samples/null-driver/libcuda.so.1
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< -L$(B)/lib -lptask -Wl,--no-as-needed $(B)/samples/null-driver/libcuda.so.1 \
		-Wl,-rpath,'$$ORIGIN/../samples/null-driver:$$ORIGIN/../lib'
