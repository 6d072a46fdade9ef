# SPDX-License-Identifier: MIT
# Examples of pools, of a file each and one for kernels, and the programs of the paper, which measure: a folder each.
POOL_LINK := -L$(B)/lib -Wl,--push-state,--no-as-needed -lptsched-pool -lptsched-device -Wl,--pop-state

define link_pool_program
@mkdir -p $(@D)
$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(POOL_LINK) $(if $(filter %/libptask.so,$^),$(PTASK_LINK)) -Wl,-rpath,'$$ORIGIN/../lib'
endef

POOL_EXAMPLES := $(basename $(notdir $(wildcard samples/pool/*.cu)))

$(B)/samples/quadrature: $(B)/obj/samples/pool/quadrature.cpp.o $(B)/lib/libptsched-pool.so
	$(link_pool_program)
$(B)/samples/squares: $(B)/obj/samples/pool/squares.c.o $(B)/lib/libptsched-pool.so
	$(link_pool_program)
$(POOL_EXAMPLES:%=$(B)/vgpu/%.so): $(B)/vgpu/%.so: samples/pool/%.cu samples/pool/%.h $(POOL_HEADERS) $(VGPU_CC)
	$(compile_for_vgpu)

# Each is its host's side; kernels.cu, which the pool's blocks run; and, where it compares itself with what one does
# without a pool, hand.cu, which nvcc makes a library of.
POOL_PROGRAMS := $(patsubst samples/pool/%/kernels.cu,%,$(wildcard samples/pool/*/kernels.cu))
POOL_BY_HAND  := $(patsubst samples/pool/%/hand.cu,%,$(wildcard samples/pool/*/hand.cu))
POOL_CUH      := $(wildcard samples/pool/common/*.cuh samples/common/*.cuh)

define pool_program
$(B)/samples/pool-$(1): $(call objects,$(wildcard samples/pool/$(1)/*.cpp)) $(SAMPLES_COMMON) $(B)/lib/libptsched-pool.so
	$$(link_pool_program)
$(B)/vgpu/pool-$(1).so: samples/pool/$(1)/kernels.cu $(wildcard samples/pool/$(1)/*.h samples/pool/$(1)/*.cuh) $(POOL_CUH) $(POOL_HEADERS) $(VGPU_CC)
	$$(compile_for_vgpu)
$(B)/samples/pool-$(1).fatbin: samples/pool/$(1)/kernels.cu $(wildcard samples/pool/$(1)/*.h samples/pool/$(1)/*.cuh) $(POOL_CUH) $(POOL_HEADERS)
	$$(need_nvcc)
	$$(NVCC) $$(NVCCFLAGS) -O3 -std=c++20 -I. -Ilibptsched/include -fatbin -o $$@ $$<
$(B)/samples/pool-$(1)-hand.so: samples/pool/$(1)/hand.cu $(wildcard samples/pool/$(1)/*.h samples/pool/$(1)/*.cuh samples/pool/common/*.hpp samples/common/*.hpp) $(POOL_CUH)
	$$(need_nvcc)
	$$(NVCC) $$(NVCCFLAGS) -O3 -std=c++20 -I. -Xcompiler -fPIC -shared -o $$@ $$< -lcublas -lcusolver -lcusparse
endef
$(foreach program,$(POOL_PROGRAMS),$(eval $(call pool_program,$(program))))
# Its tasks are a graph's.
$(B)/samples/pool-graph: $(B)/lib/libptask.so

# A client of the scheduler, too.
$(B)/samples/pool-citizen: POOL_LINK += -lptsched
$(B)/samples/pool-citizen: $(B)/lib/libptsched.so

ALL += $(POOL_EXAMPLES:%=$(B)/samples/%) $(POOL_PROGRAMS:%=$(B)/samples/pool-%)

.PHONY: bench-pool-parts
bench-pool-parts: $(B)/bin/ptschedd $(B)/lib/libptsched-preload.so \
		$(POOL_PROGRAMS:%=$(B)/samples/pool-%) $(POOL_PROGRAMS:%=$(B)/samples/pool-%.fatbin) \
		$(POOL_BY_HAND:%=$(B)/samples/pool-%-hand.so)
