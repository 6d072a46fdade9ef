# SPDX-License-Identifier: MIT
# The programs of map and reduce: a folder each. Each is its host's side, by hand and otherwise, and kernels.cu. They
# need MPI, and go without where there is none.
SPMD_PROGRAMS    := $(filter-out summary,$(sort $(patsubst samples/spmd/%/main.cpp,%,$(wildcard samples/spmd/*/main.cpp))))
SPMD_HAS_MPI     := $(shell command -v mpicxx >/dev/null && echo yes)
SPMD_MPI_COMPILE := $(if $(SPMD_HAS_MPI),$(patsubst -I%,-isystem %,$(shell mpicxx --showme:compile)))
SPMD_MPI_LINK    := $(if $(SPMD_HAS_MPI),$(filter-out -lmpi_cxx,$(shell mpicxx --showme:link)))
SPMD_COMMON      := $(call objects,$(wildcard samples/spmd/common/*.cpp))

# Gcc's OpenMP is what they are compared with, whichever compiler makes the rest; and all that the processor has.
$(B)/obj/samples/spmd/%.cpp.o: samples/spmd/%.cpp
	@mkdir -p $(@D)
	$(OPENMP_CXX) $(CPPFLAGS) -DOMPI_SKIP_MPICXX $(SPMD_MPI_COMPILE) -std=c++20 -O3 -march=$(SPMD_MARCH) $(WARNINGS) -fPIC -pthread -fopenmp -MMD -MP -c $< -o $@
SPMD_MARCH ?= native

define spmd_program
$(B)/samples/spmd-$(1): $(call objects,$(wildcard samples/spmd/$(1)/*.cpp)) $(SPMD_COMMON) $(SAMPLES_COMMON) \
		$(B)/lib/libptsched-spmd.so $(B)/lib/libptsched-spmd-mpi.so
	@mkdir -p $$(@D)
	$$(CXX) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) -L$(B)/lib -lptsched-spmd-mpi -lptsched-spmd -lptsched-device $(SPMD_MPI_LINK) -lgomp -Wl,-rpath,'$$$$ORIGIN/../lib'
endef
SPMD_CUDA_HEADERS := $(wildcard samples/common/*.cuh samples/spmd/common/*.cuh)
define spmd_kernels
$(B)/vgpu/spmd-$(1).so: samples/spmd/$(1)/kernels.cu $(wildcard samples/spmd/$(1)/*.h samples/spmd/$(1)/*.cuh) $(SPMD_CUDA_HEADERS) $(VGPU_CC)
	$$(compile_for_vgpu)
$(B)/samples/spmd-$(1).fatbin: samples/spmd/$(1)/kernels.cu $(wildcard samples/spmd/$(1)/*.h samples/spmd/$(1)/*.cuh) $(SPMD_CUDA_HEADERS)
	$$(need_nvcc)
	$$(NVCC) $$(NVCCFLAGS) -O3 -std=c++20 -I. -fatbin -o $$@ $$<
endef
define spmd_device
$(B)/vgpu/spmd-$(1)-device.so: samples/spmd/$(1)/device.cu $(wildcard samples/spmd/$(1)/*.h samples/spmd/$(1)/*.cuh) $(SPMD_CUDA_HEADERS) $(SPMD_DEVICE_HEADERS) $(VGPU_CC)
	$$(compile_for_vgpu)
$(B)/samples/spmd-$(1)-device.fatbin: samples/spmd/$(1)/device.cu $(wildcard samples/spmd/$(1)/*.h samples/spmd/$(1)/*.cuh) $(SPMD_CUDA_HEADERS) $(SPMD_DEVICE_HEADERS)
	$$(need_nvcc)
	$$(NVCC) $$(NVCCFLAGS) -O3 -std=c++20 -I. -Ilibptsched/include -fatbin -o $$@ $$<
endef
$(foreach program,$(SPMD_PROGRAMS),$(eval $(call spmd_program,$(program))))
SPMD_WITH_KERNELS := $(sort $(patsubst samples/spmd/%/kernels.cu,%,$(wildcard samples/spmd/*/kernels.cu)))
$(foreach program,$(SPMD_WITH_KERNELS),$(eval $(call spmd_kernels,$(program))))
SPMD_DEVICE_HEADERS := $(wildcard libptsched/include/ptsched/spmd.cuh libptsched/include/ptsched/spmd/*.cuh libptsched/include/ptsched/spmd/*.h)
SPMD_WITH_DEVICE    := $(sort $(patsubst samples/spmd/%/device.cu,%,$(wildcard samples/spmd/*/device.cu)))
$(foreach program,$(SPMD_WITH_DEVICE),$(eval $(call spmd_device,$(program))))

$(B)/samples/spmd-dgemm-hand.so: samples/spmd/dgemm/blas.cu samples/spmd/dgemm/blas.h $(wildcard samples/common/*.hpp)
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -Xcompiler -fPIC -shared -o $@ $< -lcublas

# What their records come to.
$(B)/samples/spmd-summary: $(B)/obj/samples/spmd/summary/main.cpp.o $(SAMPLES_COMMON) $(B)/lib/libptsched-device.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched-device -Wl,-rpath,'$$ORIGIN/../lib'

.PHONY: spmd-samples-skipped
spmd-samples-skipped:
	@echo "samples/spmd is not built: MPI is missing (libopenmpi-dev)" >&2

ALL += $(if $(SPMD_HAS_MPI),$(SPMD_PROGRAMS:%=$(B)/samples/spmd-%) $(B)/samples/spmd-summary,spmd-samples-skipped)
SPMD_BENCHES     += $(SPMD_PROGRAMS:%=$(B)/samples/spmd-%)
SPMD_BENCH_PARTS += $(SPMD_WITH_KERNELS:%=$(B)/samples/spmd-%.fatbin) $(SPMD_WITH_DEVICE:%=$(B)/samples/spmd-%-device.fatbin) $(B)/samples/spmd-dgemm-hand.so

# Ranks for weak scaling: of a core each, and of a GPU each.
SPMD_WEAK_RANKS ?= $(shell for ranks in 2 4 8 16; do [ $$ranks -gt $$(nproc) ] || echo $$ranks; done)
SPMD_WEAK_GPUS  ?= $(shell for ranks in 2 4 8; do [ $$ranks -gt $$(ls -d /dev/nvidia[0-9]* 2>/dev/null | wc -l) ] || echo $$ranks; done)
SPMD_MPIRUN     ?= mpirun --allow-run-as-root --bind-to none
# What takes a core, and a GPU, long enough.
SPMD_WEAK_CPU   := 'wordcount --cpu --megabytes 64' 'kmeans --cpu --points 262144'
SPMD_WEAK_GPU   := 'wordcount --megabytes 1024' 'kmeans --points 8388608' 'cmeans --points 3200000' 'gmm --points 3200000'
# $(call spmd_weak,NUMBERS OF RANKS,PROGRAMS): commands of the shell.
spmd_weak = for ranks in $(1); do for program in $(2); do \
	$(SPMD_MPIRUN) -np $$ranks $(B)/samples/spmd-$$program --weak $(BENCH); done; done
