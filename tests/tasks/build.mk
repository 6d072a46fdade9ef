# SPDX-License-Identifier: MIT
# Tasks that say what they read and write, on the host and on the virtual GPU.

$(B)/vgpu/tasks-fold.so: tests/tasks/fold.cu tests/tasks/fold.h $(VGPU_CC)
	$(compile_for_vgpu)

$(B)/obj/tests/tasks/benches.cpp.o: CPPFLAGS += -DTASKS_BENCHES_ARE_BUILT=$(if $(SAN),false,true)

$(B)/obj/tests/tasks/programs.cpp.o: CPPFLAGS += -DTASKS_PROGRAMS='"$(TASKS_PROGRAMS)"' -DTASKS_PROGRAMS_ARE_BUILT=$(if $(SAN),false,true)
# A new program is a new test.
$(B)/obj/tests/tasks/programs.cpp.o: samples/tasks/build.mk

$(B)/tests/tasks: $(call objects,$(wildcard tests/tasks/*.c tests/tasks/*.cpp)) $(TASKS_OBJS) $(PTASK_INSIDES) \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(addprefix $(B)/vgpu/,kernels.so ptask-kernels.so tasks-fold.so) \
		$(if $(SAN),,$(B)/samples/tasks-taskbench $(B)/tests/bench-tasks $(TASKS_PROGRAMS:%=$(B)/samples/tasks-%) \
			$(addprefix $(B)/vgpu/,tasks-taskbench.so bench-tasks.so $(TASKS_PROGRAMS:%=tasks-%.so))) \
		$(if $(NVTX_CPPFLAGS),| $(B)/tests/ptask-nvtx-tool.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/tasks
