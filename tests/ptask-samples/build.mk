# SPDX-License-Identifier: MIT
# The examples, as a user runs them, on the virtual GPU and under the broker.
$(B)/obj/tests/ptask-samples/%.o: CPPFLAGS += -Itests/vgpu

$(B)/tests/ptask-samples: $(B)/obj/tests/ptask-samples/main.cpp.o | $(PTASK_EXAMPLES) \
		$(addprefix $(B)/vgpu/,vgpud libcuda.so kernels.so nvrtc.so) $(B)/bin/ptschedd
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $< -o $@

TESTS += $(B)/tests/ptask-samples
