# SPDX-License-Identifier: MIT
# Graphs on the virtual GPU.
$(B)/obj/tests/ptask/%.o: CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/ptask -Ilibptsched/ptask/include \
	-Itests/vgpu

$(B)/vgpu/ptask-kernels.so: tests/ptask/kernels.cu tests/vgpu/vgpu-cc $(wildcard tests/vgpu/include/*.h)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ $(WARNINGS) $(SANFLAGS)

# Linked with the driver so that the one of the virtual GPU is found.
$(B)/tests/ptask: $(patsubst %,$(B)/obj/%.o,$(wildcard tests/ptask/*.cpp tests/ptask/*.c)) $(B)/lib/libptask.so \
		$(addprefix $(B)/vgpu/,vgpud libcuda.so kernels.so ptask-kernels.so) $(B)/samples/chain
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptask -Wl,--no-as-needed -L$(B)/vgpu -lcuda \
		-Wl,-rpath,'$$ORIGIN/../vgpu:$$ORIGIN/../lib'

TESTS += $(B)/tests/ptask
