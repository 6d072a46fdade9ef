# SPDX-License-Identifier: MIT
# What it costs to make tasks and to run them, beside OpenMP's.
BENCH_TASKS := tests/bench/tasks

$(B)/obj/$(BENCH_TASKS)/openmp.cpp.o: $(BENCH_TASKS)/openmp.cpp
	$(compile_openmp)

$(B)/tests/bench-tasks: $(call objects,$(wildcard $(BENCH_TASKS)/*.cpp) samples/common/report.cpp) $(B)/lib/libptsched-tasks.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched-tasks -lptsched-device -lgomp -Wl,-rpath,'$$ORIGIN/../lib'

$(B)/vgpu/bench-tasks.so: $(BENCH_TASKS)/kernels.cu $(VGPU_CC)
	$(compile_for_vgpu)
$(B)/tests/bench-tasks.fatbin: $(BENCH_TASKS)/kernels.cu
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -fatbin -o $@ $<

ALL += $(B)/tests/bench-tasks
TASKS_BENCHES += $(B)/tests/bench-tasks
TASKS_BENCH_PARTS += $(B)/tests/bench-tasks.fatbin

.PHONY: bench-tasks-parts
bench-tasks-parts: $(TASKS_BENCHES) $(TASKS_BENCH_PARTS)
