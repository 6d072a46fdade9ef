# SPDX-License-Identifier: MIT
# The GPUs' part of a runtime of tasks, by itself, on the virtual GPU.
$(B)/tests/tasks-gpu: $(patsubst %,$(B)/obj/%.o,$(wildcard tests/tasks/gpu/*.cpp) tests/device/rival.cpp) $(TASKS_OBJS) $(PTASK_INSIDES) \
		$(B)/bin/ptschedd $(B)/bin/ptsched $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/kernels.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/tasks-gpu
