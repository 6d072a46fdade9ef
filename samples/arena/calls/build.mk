# SPDX-License-Identifier: MIT
# What calls across cost.
$(B)/samples/arena-calls: POOL_LINK := $(ARENA_LINK)
$(B)/samples/arena-calls: $(call objects,$(wildcard samples/arena/calls/*.cpp)) $(SAMPLES_COMMON) $(B)/lib/libptsched-arena.so
	$(link_pool_program)
$(B)/vgpu/arena-calls.so: samples/arena/calls/kernels.cu $(ARENA_HEADERS) $(VGPU_CC)
	$(compile_for_vgpu)
$(B)/samples/arena-calls.fatbin: samples/arena/calls/kernels.cu $(ARENA_HEADERS)
	$(need_nvcc)
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -Ilibptsched/include -fatbin -o $@ $<

ALL += $(B)/samples/arena-calls
ARENA_BENCHES     += $(B)/samples/arena-calls
ARENA_BENCH_PARTS += $(B)/samples/arena-calls.fatbin
