# SPDX-License-Identifier: MIT
# UNITY=yes, as "make check" and "make demo" have it: what a program or a library has of one folder is compiled as one
# file, since headers and templates are most of what a file takes.
UNITY ?=

# Those that stay by themselves: they are parts of several lists,
SEPARATE := libptsched/base/% tests/arena/coherence/two_memories.cpp
# have flags or prerequisites of their own,
SEPARATE += $(addprefix libptsched/,arena/coherence/kernels_image.cpp \
	$(patsubst %,preload/%.cpp,driver/entry_points entry/dlsym entry/sanitizers loaded/loaded_object loaded/real_dlsym)) \
	samples/arena/%/main.cpp samples/tasks/taskbench/openmp.cpp \
	$(patsubst %,tests/%.cpp,arena/call/programs arena/coherence/benches arena/coherence/kernels bench/tasks/openmp \
	encfs/gpu/main pool/from_c pool/programs ptask/contents ptask/images tasks/benches tasks/programs) \
	$(addprefix tools/,ptcryptfs/gpu/kernel_image.cpp ptsched/main.cpp ptsched/trace_file.cpp)
# or use for something of their own a name that a neighbour uses, too.
SEPARATE += $(patsubst %,libptsched/%.cpp,arena/call/host_functions device/icd device/nvrtc device/slices \
	preload/entry/wrappers preload/turn/device preload/turn/look_after ptask/devices/device_share) \
	samples/pool/gpus2/main.cpp samples/ptask/paper/matrices.cpp samples/ptask/paper/bench/% samples/tasks/%/hand.cpp \
	$(patsubst %,tests/%.cpp,arena/coherence/shared arena/kernels arena/window bench/arena/hand_over \
	conformance/cases_group device/home device/parameters device/slices device/spaces pool/graph ptask/world/loan \
	spmd/model/master spmd/model/model spmd/model/pool spmd/model/simulate vgpu/libcuda/memory) \
	$(patsubst %,tests/ptask/%.cpp,batches calls constants draw fitness host inout kinds loops lower lower_blocks modes \
		ptask signals states) \
	$(patsubst %,tests/vgpu/test_libcuda_%.cpp,blocks order vmm) \
	$(patsubst %,tools/%.cpp,ptcryptfs/volume/volume ptsched-spmd-sim/job ptsched/record ptsched/top ptsched/units)

# $(call objects,SOURCES[,PREFIX]): their objects, which are in $(B)/obj/PREFIX.
objects = $(if $(UNITY),$(call \
	separate_objects,$(filter-out %.cpp,$(1)) $(filter $(SEPARATE),$(1)),$(2)) $(call \
	unity_objects,$(filter %.cpp,$(filter-out $(SEPARATE),$(1))),$(2)),$(call \
	separate_objects,$(1),$(2)))
separate_objects = $(patsubst %,$(B)/obj/$(2)%.o,$(1))
unity_objects = $(foreach folder,$(sort $(dir $(1))),$(call \
	unity_object,$(folder),$(call sources_in,$(folder),$(1)),$(2)))
sources_in = $(strip $(foreach source,$(2),$(if $(filter $(1),$(dir $(source))),$(source))))
# FOLDER, SOURCES in it, PREFIX
unity_object = $(call separate_objects,$(if $(word 2,$(2)),$(call \
	unity_source,$(1),$(2),$(1)$(call unity_name,$(2)).cpp),$(2)),$(3))
unity_name = unity-$(basename $(notdir $(firstword $(1))))-$(basename $(notdir $(lastword $(1))))-$(words $(1))
# FOLDER, SOURCES, NAME: that name, with a rule for the file, which includes them.
unity_source = $(if $(UNITY_$(3)),,$(eval UNITY_$(3) := $(2))$(eval $(B)/unity/$(3): $(1); \
	@mkdir -p $$(@D) && printf '#include "%s"\n' $(2) >$$@))$(if $(filter-out $(UNITY_$(3)),$(2)),$(error \
	$(3) would be two files))$(3)
vpath %.cpp $(B)/unity
