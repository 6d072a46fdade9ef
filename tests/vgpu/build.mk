# SPDX-License-Identifier: MIT
# The virtual GPU: the engine's model, its two hosts, libcuda.so.1 on top, and test programs.

VGPU     := tests/vgpu
VGPU_HEADERS := $(wildcard $(VGPU)/include/*.h $(VGPU)/programs/*.h $(VGPU)/include/cooperative_groups/* $(VGPU)/include/cuda/*)

$(B)/tests/vgpu_model: $(B)/obj/$(VGPU)/test_model.cpp.o $(B)/obj/$(VGPU)/engine/engine.c.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^

TESTS += $(B)/tests/vgpu_model

VGPU_SERVICE_OBJS := $(addprefix $(B)/obj/$(VGPU)/engine/,engine.c.o rm.c.o service.c.o)

$(B)/vgpu/vgpud: $(B)/obj/$(VGPU)/vgpud.cpp.o $(B)/obj/tools/ptschedd/event_loop.cpp.o $(B)/obj/libptsched/base/time_calls.cpp.o \
		$(VGPU_SERVICE_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^

VGPU_LIBCUDA_OBJS := $(call objects,$(wildcard $(VGPU)/libcuda/*.cpp))

$(VGPU_LIBCUDA_OBJS): CXXFLAGS += -fvisibility=hidden -I$(VGPU)/include

# The sanitizers' runtime comes from the program. Its own calls must not go through a preloaded library, as the real driver's do not.
$(B)/vgpu/libcuda.so.1: $(VGPU_LIBCUDA_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic $(if $(SAN),,-Wl,-z,defs) -o $@ $^ -l:libboost_context.a

$(B)/vgpu/libcuda.so: $(B)/vgpu/libcuda.so.1
	ln -sf libcuda.so.1 $@

$(B)/vgpu/kernels.so $(B)/vgpu/blocks.so: $(B)/vgpu/%.so: $(VGPU)/programs/%.cu $(VGPU)/vgpu-cc $(VGPU_HEADERS)
	@mkdir -p $(@D)
	CXX="$(CXX)" $(VGPU)/vgpu-cc $< -o $@ -iquote . $(WARNINGS) $(SANFLAGS)

# What stands for NVRTC.
$(B)/obj/$(VGPU)/nvrtc.cpp.o: CPPFLAGS += -DVGPU_CC='"$(abspath $(VGPU)/vgpu-cc)"'

$(B)/vgpu/nvrtc.so: $(B)/obj/$(VGPU)/nvrtc.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -o $@ $^

# What stands for the library's own PTX.
$(B)/vgpu/ptx/%.so: $(VGPU)/programs/%.cu $(VGPU)/vgpu-cc $(VGPU_HEADERS)
	@mkdir -p $(@D)
	CXX="$(CXX)" $(VGPU)/vgpu-cc $< -o $@ -iquote . $(WARNINGS) $(SANFLAGS)

# The same of arenas, by the first kernel's name.
$(B)/vgpu/ptx/ptsched_arena_compare.so: libptsched/arena/coherence/kernels.cu libptsched/arena/coherence/kernels.h $(VGPU)/vgpu-cc $(VGPU_HEADERS)
	@mkdir -p $(@D)
	CXX="$(CXX)" $(VGPU)/vgpu-cc $< -o $@ -iquote . $(WARNINGS) $(SANFLAGS)

# And of ptcryptfs.
$(B)/vgpu/ptx/ptcryptfs_xts.so: tools/ptcryptfs/gpu/kernels.cu tools/ptcryptfs/gpu/aes.h $(VGPU)/vgpu-cc $(VGPU_HEADERS)
	@mkdir -p $(@D)
	CXX="$(CXX)" $(VGPU)/vgpu-cc $< -o $@ -iquote . $(WARNINGS) $(SANFLAGS)

$(B)/vgpu/inversion-client: $(B)/obj/$(VGPU)/programs/inversion-client.cpp.o $(B)/vgpu/libcuda.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< -L$(B)/vgpu -lcuda

$(B)/vgpu/rm-shim.so: $(B)/obj/$(VGPU)/rm_shim.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -o $@ $^ -ldl

VGPU_PROGRAMS := $(addprefix $(B)/vgpu/,vgpud libcuda.so kernels.so blocks.so inversion-client vgpu-stat rm-shim.so \
	ptx/ptsched_pieces.so ptx/ptsched_multiply_add.so ptx/ptsched_arena_compare.so)

ALL += $(VGPU_PROGRAMS)

$(B)/vgpu/vgpu-stat: $(addprefix $(B)/obj/$(VGPU)/,vgpu-stat.cpp.o libcuda/link.cpp.o)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^

VGPU_TEST_OBJS := $(call objects,$(wildcard $(VGPU)/test_libcuda*.cpp)) \
	$(B)/obj/$(VGPU)/libcuda/link.cpp.o

$(B)/tests/vgpu_libcuda: $(VGPU_TEST_OBJS) $(VGPU_PROGRAMS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(VGPU_TEST_OBJS) -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/vgpu_libcuda

# In the VM the module hosts the engine; the daemon stays at home.
VM_FILES += $(B)/vgpu/libcuda.so.1:/usr/lib/ $(B)/vgpu/kernels.so:/usr/bin/ $(B)/vgpu/inversion-client:/usr/bin/ \
	$(B)/vgpu/vgpu-stat:/usr/bin/ $(B)/vgpu/kernels.so:/vm/vgpu/ $(B)/vgpu/blocks.so:/vm/vgpu/ $(B)/vgpu/inversion-client:/vm/vgpu/ \
	$(B)/tests/vgpu_libcuda:/vm/tests/vgpu_libcuda $(VGPU)/kmod/module_test:/vm/tests/vgpu-module
VM_TESTS += /vm/tests/vgpu-module
