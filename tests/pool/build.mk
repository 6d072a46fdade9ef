# SPDX-License-Identifier: MIT
# Pools of tasks, on the virtual GPU.

$(B)/vgpu/pool-kernels.so: tests/pool/kernels.cu tests/pool/tasks.h $(POOL_HEADERS) $(VGPU_CC)
	$(compile_for_vgpu)

$(B)/obj/tests/pool/programs.cpp.o: CPPFLAGS += -DPOOL_PROGRAMS='"$(POOL_PROGRAMS)"' -DPOOL_PROGRAMS_ARE_BUILT=$(if $(SAN),false,true)
# A new program is a new test.
$(B)/obj/tests/pool/programs.cpp.o: $(wildcard samples/pool/*/kernels.cu)

$(B)/obj/tests/pool/from_c.cpp.o: CPPFLAGS += -DPOOL_INCLUDE='"$(abspath libptsched/include)"'

$(B)/tests/pool: $(call objects,$(wildcard tests/pool/*.cpp tests/pool/*.c) tests/device/rival.cpp) $(POOL_OBJS) $(PTASK_INSIDES) \
		$(B)/bin/ptschedd $(B)/bin/ptsched $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(addprefix $(B)/vgpu/,pool-kernels.so kernels.so) \
		$(B)/vgpu/nvrtc.so \
		$(if $(SAN),,$(B)/lib/libptsched-preload.so $(addprefix $(B)/samples/,$(POOL_EXAMPLES) $(POOL_PROGRAMS:%=pool-%)) \
			$(addprefix $(B)/vgpu/,$(POOL_EXAMPLES:%=%.so) $(POOL_PROGRAMS:%=pool-%.so)))
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/pool
