# SPDX-License-Identifier: MIT
# The programs of the paper, which measure: a folder each. Each is its host's side, by hand and by tasks; kernels.cu;
# and, where it has steps by cuBLAS, hand.so with these, which needs the toolkit.
TASKS_PROGRAMS := saxpy gemm cholesky nbody heat hotspot kmeans
TASKS_WITH_BLAS := gemm cholesky
TASKS_COMMON   := $(call objects,$(wildcard samples/tasks/common/*.cpp))

define tasks_program
$(B)/samples/tasks-$(1): $(call objects,$(wildcard samples/tasks/$(1)/*.cpp)) $(TASKS_COMMON) $(SAMPLES_COMMON) \
		$(B)/lib/libptsched-tasks.so $(CUDA_STUB)
	@mkdir -p $$(@D)
	$$(CXX) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) -L$(B)/lib -lptsched-tasks -lptsched-device $(CUDA_STUB) -Wl,-rpath,'$$$$ORIGIN/../lib'
$(B)/vgpu/tasks-$(1).so: samples/tasks/$(1)/kernels.cu $(wildcard samples/tasks/$(1)/*.h samples/common/*.cuh) $(VGPU_CC)
	$$(compile_for_vgpu)
$(B)/samples/tasks-$(1).fatbin: samples/tasks/$(1)/kernels.cu $(wildcard samples/tasks/$(1)/*.h samples/common/*.cuh)
	$$(need_nvcc)
	$$(NVCC) $$(NVCCFLAGS) -O3 -std=c++20 -I. -fatbin -o $$@ $$<
endef
$(foreach program,$(TASKS_PROGRAMS),$(eval $(call tasks_program,$(program))))

$(TASKS_WITH_BLAS:%=$(B)/samples/tasks-%-hand.so): samples/tasks/common/blas.cu samples/tasks/common/blas.h $(wildcard samples/common/*.hpp)
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -Xcompiler -fPIC -shared -o $@ $< -lcublas -lcusolver

# What their records come to.
$(B)/samples/tasks-summary: $(B)/obj/samples/tasks/summary/main.cpp.o $(SAMPLES_COMMON) $(B)/lib/libptsched-device.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched-device -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(TASKS_PROGRAMS:%=$(B)/samples/tasks-%) $(B)/samples/tasks-summary
TASKS_BENCHES     += $(TASKS_PROGRAMS:%=$(B)/samples/tasks-%) $(B)/samples/tasks-summary
TASKS_BENCH_PARTS += $(TASKS_PROGRAMS:%=$(B)/samples/tasks-%.fatbin) $(TASKS_WITH_BLAS:%=$(B)/samples/tasks-%-hand.so)
