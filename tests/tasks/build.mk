# SPDX-License-Identifier: MIT
# Tasks that say what they read and write, on the host and on the virtual GPU.
$(B)/tests/tasks: $(patsubst %,$(B)/obj/%.o,$(wildcard tests/tasks/*.c tests/tasks/*.cpp)) $(TASKS_OBJS) $(PTASK_INSIDES) \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/tasks
