# SPDX-License-Identifier: MIT
# The programs of the paper, which measure: a folder each. Each is its host's side, kernels.cu, and files with how data
# comes from one side to the other, whose lines of source are counted.
ARENA_PROGRAMS := $(filter-out calls,$(patsubst samples/arena/%/kernels.cu,%,$(wildcard samples/arena/*/kernels.cu)))
# The library's own are found by the program's path only if the program names them, too.
ARENA_LINK     := -L$(B)/lib -Wl,--push-state,--no-as-needed -lptsched-arena -lptsched-pool -lptsched-device -Wl,--pop-state
ARENA_COMMON   := $(call objects,$(wildcard samples/arena/common/*.cpp))
# $(call arena_counted,PROGRAM): a file for each variant.
arena_counted   = $(foreach pair,hand=hand managed=managed owned=arenas shared=arenas,$(subst =,=samples/arena/$(1)/,$(pair)).cpp)

define arena_program
$(B)/samples/arena-$(1): $(call objects,$(wildcard samples/arena/$(1)/*.cpp)) $(ARENA_COMMON) $(SAMPLES_COMMON) \
		$(B)/lib/libptsched-arena.so $(CUDA_STUB)
	@mkdir -p $$(@D)
	$$(CXX) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $(ARENA_LINK) $(CUDA_STUB) -Wl,-rpath,'$$$$ORIGIN/../lib'
$(B)/obj/samples/arena/$(1)/main.cpp.o: $(wildcard samples/arena/$(1)/*.cpp) samples/arena/count-lines
$(B)/obj/samples/arena/$(1)/main.cpp.o: CPPFLAGS += \
	-DSOURCE_LINES='"$$(shell samples/arena/count-lines $(call arena_counted,$(1)))"'
$(B)/vgpu/arena-$(1).so: samples/arena/$(1)/kernels.cu $(wildcard samples/arena/$(1)/*.h samples/arena/$(1)/*.cuh) $(VGPU_CC)
	$$(compile_for_vgpu)
$(B)/samples/arena-$(1).fatbin: samples/arena/$(1)/kernels.cu $(wildcard samples/arena/$(1)/*.h samples/arena/$(1)/*.cuh)
	$$(need_nvcc)
	$$(NVCC) $$(NVCCFLAGS) -O3 -std=c++20 -I. -fatbin -o $$@ $$<
endef
$(foreach program,$(ARENA_PROGRAMS),$(eval $(call arena_program,$(program))))

# What their records come to.
$(B)/samples/arena-summary: $(call objects,$(wildcard samples/arena/summary/*.cpp)) $(SAMPLES_COMMON) $(B)/lib/libptsched-device.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched-device -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(ARENA_PROGRAMS:%=$(B)/samples/arena-%) $(B)/samples/arena-summary
ARENA_BENCHES     += $(ARENA_PROGRAMS:%=$(B)/samples/arena-%) $(B)/samples/arena-summary
ARENA_BENCH_PARTS += $(ARENA_PROGRAMS:%=$(B)/samples/arena-%.fatbin)
