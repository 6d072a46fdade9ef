# SPDX-License-Identifier: MIT
# What it costs to keep arenas coherent, beside copies. Of the library it uses what programs do not see.
BENCH_ARENA := tests/bench/arena

$(B)/tests/bench-arena: $(call objects,$(wildcard $(BENCH_ARENA)/*.cpp) tests/arena/coherence/two_memories.cpp) $(SAMPLES_COMMON) \
		$(filter $(B)/obj/libptsched/arena/coherence/% $(B)/obj/libptsched/base/%,$(ARENA_OBJS)) $(B)/lib/libptsched-device.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched-device -Wl,-rpath,'$$ORIGIN/../lib'

$(B)/vgpu/bench-arena.so: $(BENCH_ARENA)/kernels.cu $(VGPU_CC)
	$(compile_for_vgpu)
$(B)/tests/bench-arena.fatbin: $(BENCH_ARENA)/kernels.cu
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -fatbin -o $@ $<

ALL += $(B)/tests/bench-arena
ARENA_BENCHES     += $(B)/tests/bench-arena
ARENA_BENCH_PARTS += $(B)/tests/bench-arena.fatbin
