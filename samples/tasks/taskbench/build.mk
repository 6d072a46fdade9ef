# SPDX-License-Identifier: MIT
# Task Bench's patterns, by tasks of the library, by OpenMP's, and by hand on a GPU.
TASKBENCH      := samples/tasks/taskbench
TASKBENCH_OBJS := $(call objects,$(wildcard $(TASKBENCH)/*.cpp) samples/common/report.cpp)

# Gcc's tasks are what it is compared with, whichever compiler makes the rest.
OPENMP_CXX ?= g++

define compile_openmp
@mkdir -p $(@D)
$(OPENMP_CXX) $(CPPFLAGS) -std=c++20 $(OPT) $(WARNINGS) -fPIC -pthread -fopenmp -MMD -MP -c $< -o $@
endef

$(B)/obj/$(TASKBENCH)/openmp.cpp.o: $(TASKBENCH)/openmp.cpp
	$(compile_openmp)

$(B)/samples/tasks-taskbench: $(TASKBENCH_OBJS) $(B)/lib/libptsched-tasks.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched-tasks -lptsched-device -lgomp -Wl,-rpath,'$$ORIGIN/../lib'

$(B)/vgpu/tasks-taskbench.so: $(TASKBENCH)/kernels.cu $(TASKBENCH)/kernels.cuh $(TASKBENCH)/cell.h $(VGPU_CC)
	$(compile_for_vgpu)
$(B)/samples/tasks-taskbench.fatbin: $(TASKBENCH)/kernels.cu $(TASKBENCH)/kernels.cuh $(TASKBENCH)/cell.h
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -fatbin -o $@ $<
$(B)/samples/tasks-taskbench-hand.so: $(TASKBENCH)/hand.cu $(wildcard $(TASKBENCH)/*.h samples/common/*.hpp) $(TASKBENCH)/kernels.cuh
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -Xcompiler -fPIC -shared -o $@ $<

ALL += $(B)/samples/tasks-taskbench
TASKS_BENCHES += $(B)/samples/tasks-taskbench
TASKS_BENCH_PARTS += $(B)/samples/tasks-taskbench.fatbin $(B)/samples/tasks-taskbench-hand.so
