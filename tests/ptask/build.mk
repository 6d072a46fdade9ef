# SPDX-License-Identifier: MIT
# Graphs on the virtual GPU.
$(B)/obj/tests/ptask/%.o: CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/ptask -Itests/vgpu

# Linked with the driver so that the one of the virtual GPU is found.
$(B)/tests/ptask: $(patsubst %,$(B)/obj/%.o,$(wildcard tests/ptask/*.cpp)) $(B)/lib/libptask.so \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/kernels.so $(B)/samples/chain
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptask -Wl,--no-as-needed -L$(B)/vgpu -lcuda \
		-Wl,-rpath,'$$ORIGIN/../vgpu:$$ORIGIN/../lib'

TESTS += $(B)/tests/ptask
