# SPDX-License-Identifier: MIT
# The examples, as a user runs them, on the virtual GPU and under the broker; and on the virtual GPU, what a real one is
# to do with kernels that are compiled.
$(B)/obj/tests/ptask-samples/%.o: CPPFLAGS += -DMULTIPLY_ADD='"$(abspath tests/gpu/multiply_add.cu)"' -DEXAMPLES='"$(notdir $(PTASK_EXAMPLES))"'

$(B)/vgpu/multiply_add.so: tests/gpu/multiply_add.cu tests/vgpu/vgpu-cc $(wildcard tests/vgpu/include/*.h)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ $(WARNINGS) $(SANFLAGS)

$(B)/tests/ptask-samples: $(B)/obj/tests/ptask-samples/main.cpp.o | $(PTASK_EXAMPLES) \
		$(addprefix $(B)/vgpu/,vgpud libcuda.so kernels.so nvrtc.so multiply_add.so) $(B)/gpu/compiled_graph \
		$(B)/bin/ptschedd
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $< -o $@

TESTS += $(B)/tests/ptask-samples
# Sanitizers see the library in tests/ptask, and compile a dozen programs for long.
TESTS_NOSAN += $(B)/tests/ptask-samples
