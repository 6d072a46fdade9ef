# SPDX-License-Identifier: MIT
# The virtual GPU: the engine's model, its two hosts, libcuda.so.1 on top, and test programs.

VGPU     := tests/vgpu
VGPU_CPP := -I$(VGPU) -Ilibptsched/preload

$(B)/obj/$(VGPU)/%.o: CPPFLAGS += $(VGPU_CPP)

$(B)/tests/vgpu-model: $(B)/obj/$(VGPU)/test_model.cpp.o $(B)/obj/$(VGPU)/engine/engine.c.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^

TESTS += $(B)/tests/vgpu-model
