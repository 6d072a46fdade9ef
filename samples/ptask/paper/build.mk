# SPDX-License-Identifier: MIT
# The PTask paper's programs, as benchmarks on a GPU and as a test on the virtual one.
PAPER      := samples/ptask/paper
PAPER_OBJS := $(patsubst %,$(B)/obj/%.o,$(filter-out %/main.cpp,$(wildcard $(PAPER)/*.cpp)))

$(B)/obj/$(PAPER)/%.o: CPPFLAGS += -I$(PAPER) -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/ptask

$(B)/vgpu/paper.so: $(PAPER)/kernels.cu $(PAPER)/parameters.h tests/vgpu/vgpu-cc $(wildcard tests/vgpu/include/*.h)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ $(WARNINGS) $(SANFLAGS)
