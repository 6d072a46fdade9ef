# SPDX-License-Identifier: MIT
# The GPUs' part of a runtime of tasks, by itself, on the virtual GPU.
$(B)/tests/tasks-gpu: $(call objects,$(filter-out %/bench-gpu-side.cpp,$(wildcard tests/tasks/gpu/*.cpp)) tests/device/rival.cpp) $(TASKS_OBJS) $(PTASK_INSIDES) \
		$(B)/bin/ptschedd $(B)/bin/ptsched $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/kernels.so $(B)/vgpu/ptask-kernels.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/tasks-gpu

# The host's cost, with a driver that does nothing; not a test.
$(B)/tests/bench-gpu-side: $(B)/obj/tests/tasks/gpu/bench-gpu-side.cpp.o $(TASKS_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a $(B)/samples/null-driver/libcuda.so.1
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -rdynamic -Wl,--no-as-needed $(B)/samples/null-driver/libcuda.so.1 \
		-Wl,-rpath,'$$ORIGIN/../samples/null-driver'
