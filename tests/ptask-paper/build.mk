# SPDX-License-Identifier: MIT
# The paper's programs in all variants, small, on the virtual GPU and on PoCL.

# Linked with the driver so that the one of the virtual GPU is found.
PAPER_TESTS := $(patsubst %,$(B)/tests/ptask-paper-%,variants figures gesture)

$(PAPER_TESTS): $(B)/tests/ptask-paper-%: $(B)/obj/tests/ptask-paper/%.cpp.o \
		$(call objects,$(wildcard samples/ptask/paper/*.cpp)) $(B)/lib/libptask.so \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/paper.so \
		$(addprefix $(B)/samples/,bench-ptask gesture paper.cl null-driver/libcuda.so.1)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PTASK_LINK) -Wl,--no-as-needed -L$(B)/vgpu -lcuda -ldl \
		-Wl,-rpath,'$$ORIGIN/../vgpu:$$ORIGIN/../lib'

TESTS += $(PAPER_TESTS)
# Sanitizers see the library in tests/ptask.
TESTS_NOSAN += $(PAPER_TESTS)
