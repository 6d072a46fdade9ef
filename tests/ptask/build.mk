# SPDX-License-Identifier: MIT
# Graphs on the virtual GPU.

$(B)/vgpu/ptask-kernels.so: tests/ptask/kernels.cu tests/vgpu/vgpu-cc $(wildcard tests/vgpu/include/*.h)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ $(WARNINGS) $(SANFLAGS)

# The example in the comment at the head of graph.hpp, for contents.cpp.
$(B)/obj/tests/ptask/example_of_the_header.inc: libptsched/include/ptsched/ptask/graph.hpp
	@mkdir -p $(@D)
	sed -n 's/^ \*\t//p; /^ \*\/$$/q' $< >$@

$(B)/obj/tests/ptask/contents.cpp.o: CPPFLAGS += -I$(B)/obj/tests/ptask
$(B)/obj/tests/ptask/contents.cpp.o: $(B)/obj/tests/ptask/example_of_the_header.inc

# Kernels of the program itself.
$(B)/obj/tests/ptask/images.cpp.o: CPPFLAGS += -DPTASK_KERNELS='"$(abspath $(B)/vgpu/ptask-kernels.so)"'
$(B)/obj/tests/ptask/images.cpp.o: $(B)/vgpu/ptask-kernels.so

# Linked with the driver so that the one of the virtual GPU is found.
$(B)/tests/ptask: $(call objects,$(wildcard tests/ptask/*.cpp tests/ptask/*.c)) $(PTASK_INSIDES) \
		$(addprefix $(B)/vgpu/,vgpud libcuda.so nvrtc.so kernels.so ptask-kernels.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

$(B)/tests/ptask-world: $(call objects,$(wildcard tests/ptask/world/*.cpp)) \
		$(B)/obj/tests/vgpu/libcuda/link.cpp.o $(PTASK_INSIDES) \
		$(addprefix $(B)/vgpu/,vgpud libcuda.so kernels.so ptask-kernels.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

# Programs with graphs that attach, under the broker; in the VM, under the module.
$(B)/tests/ptask-attach-client: $(B)/obj/tests/ptask/attach/client.cpp.o $(B)/obj/libptsched/base/worker.cpp.o \
		$(B)/lib/libptask.so $(B)/lib/libptsched.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PTASK_LINK) -lptsched -Wl,-rpath,'$$ORIGIN/../lib'

$(B)/tests/ptask-attach: $(B)/obj/tests/ptask/attach/main.cpp.o $(B)/obj/libptsched/base/time_calls.cpp.o \
		| $(B)/tests/ptask-attach-client \
		$(addprefix $(B)/vgpu/,vgpud libcuda.so kernels.so vgpu-stat) $(addprefix $(B)/bin/,ptschedd ptsched) \
		$(PRELOAD_SO)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

VM_FILES += $(B)/tests/ptask-attach:/vm/tests/ptask-attach-module $(B)/tests/ptask-attach-client:/vm/tests/ \
	$(B)/vgpu/vgpu-stat:/vm/vgpu/ $(B)/bin/ptsched:/vm/bin/ $(PRELOAD_SO):/vm/lib/
VM_TESTS += /vm/tests/ptask-attach-module

# With what NVTX loads in place of a tool, where there is NVTX.
$(B)/obj/tests/ptask/nvtx/tool.cpp.o: CPPFLAGS += $(NVTX_CPPFLAGS)
$(B)/tests/ptask-nvtx-tool.so: $(B)/obj/tests/ptask/nvtx/tool.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -o $@ $<
$(B)/tests/ptask-nvtx: $(B)/obj/tests/ptask/nvtx/main.cpp.o $(B)/lib/libptask.so \
		$(if $(NVTX_CPPFLAGS),| $(B)/tests/ptask-nvtx-tool.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< $(PTASK_LINK) -ldl -Wl,-rpath,'$$ORIGIN/../lib'

$(B)/tests/ptask-one-gpu: $(B)/tests/ptask
	ln -sf $(<F) $@

TESTS += $(B)/tests/ptask $(B)/tests/ptask-one-gpu $(B)/tests/ptask-world $(B)/tests/ptask-attach $(B)/tests/ptask-nvtx

# The host's cost of a run, with a driver that does nothing; not a test.
$(B)/tests/bench-invocation: $(B)/obj/tests/ptask/bench/invocation.cpp.o $(B)/lib/libptask.so \
		$(B)/samples/null-driver/libcuda.so.1
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< $(PTASK_LINK) -Wl,--no-as-needed $(B)/samples/null-driver/libcuda.so.1 \
		-Wl,-rpath,'$$ORIGIN/../samples/null-driver:$$ORIGIN/../lib'
