# SPDX-License-Identifier: MIT
# The coherence of arenas, on memory that stands for a GPU's and on the virtual GPU.
$(B)/obj/tests/arena/coherence/kernels.cpp.o: CPPFLAGS += -DKERNEL_PTX='"$(abspath scripts/kernel-ptx)"'

$(B)/obj/tests/arena/coherence/benches.cpp.o: CPPFLAGS += -DARENA_BENCH_IS_BUILT=$(if $(SAN),false,true)

$(B)/tests/arena-coherence: $(call objects,$(wildcard tests/arena/coherence/*.cpp)) $(sort $(ARENA_OBJS) $(POOL_OBJS) $(DEVICE_OBJS)) $(B)/lib/libptsched-core.a \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/ptx/ptsched_arena_compare.so \
		$(if $(SAN),,$(B)/tests/bench-arena $(B)/vgpu/bench-arena.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/arena-coherence
