# SPDX-License-Identifier: MIT
# The coherence of arenas, on memory that stands for a GPU's and on the virtual GPU.
$(B)/obj/tests/arena/coherence/kernels.cpp.o: CPPFLAGS += -DARENA_PTX='"$(abspath scripts/arena-ptx)"'

$(B)/tests/arena-coherence: $(patsubst %,$(B)/obj/%.o,$(wildcard tests/arena/coherence/*.cpp)) $(ARENA_OBJS) $(PTASK_INSIDES) \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/ptx/ptsched_arena_compare.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/arena-coherence
