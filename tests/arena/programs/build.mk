# SPDX-License-Identifier: MIT
# The programs of samples/arena, on the virtual GPU.
$(B)/obj/tests/arena/programs/main.cpp.o: CPPFLAGS += -DARENA_PROGRAMS='"$(ARENA_PROGRAMS)"' \
	-DARENA_SOURCES='"$(abspath samples/arena)"'
# A new program is a new test.
$(B)/obj/tests/arena/programs/main.cpp.o: $(wildcard samples/arena/*/kernels.cu)

$(B)/tests/arena-programs: $(B)/obj/tests/arena/programs/main.cpp.o $(addprefix $(B)/vgpu/,vgpud libcuda.so ptx/ptsched_arena_compare.so) \
		$(ARENA_PROGRAMS:%=$(B)/vgpu/arena-%.so) samples/arena/count-lines \
		$(ARENA_PROGRAMS:%=$(B)/samples/arena-%) $(B)/samples/arena-summary
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^)

# Of sanitizers, the programs would need their libraries.
TESTS       += $(B)/tests/arena-programs
TESTS_NOSAN += $(B)/tests/arena-programs
