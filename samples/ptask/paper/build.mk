# SPDX-License-Identifier: MIT
# The PTask paper's programs, as benchmarks on a GPU and as a test on the virtual one and on PoCL.
PAPER       := samples/ptask/paper
PAPER_OBJS  := $(call objects,$(wildcard $(PAPER)/*.cpp))
PAPER_BENCH := $(addprefix $(B)/samples/,bench-ptask gesture paper.cl null-driver/libcuda.so.1)

$(B)/samples/bench-ptask: $(call objects,$(wildcard $(PAPER)/bench/*.cpp))
$(B)/samples/gesture: $(call objects,$(wildcard $(PAPER)/gesture/*.cpp))
$(B)/samples/bench-ptask $(B)/samples/gesture: $(PAPER_OBJS) $(B)/lib/libptask.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PTASK_LINK) -ldl -Wl,-rpath,'$$ORIGIN/../lib'

$(B)/samples/null-driver/libcuda.so.1: $(call objects,$(wildcard $(PAPER)/null/*.cpp))
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,libcuda.so.1 -o $@ $^

ALL += $(PAPER_BENCH)

# For a real GPU.
$(B)/samples/paper.fatbin: $(PAPER)/kernels.cu $(PAPER)/parameters.h
	@mkdir -p $(@D)
	@command -v $(NVCC) >/dev/null || { echo "bench-ptask needs nvcc (CUDA toolkit); NVCC names it" >&2; exit 1; }
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++17 -I. -fatbin -o $@ $<

.PHONY: bench-ptask-parts
bench-ptask-parts: $(PAPER_BENCH) $(B)/samples/paper.fatbin

# For devices of OpenCL, whose compiler knows no other files.
$(B)/samples/paper.cl: $(PAPER)/kernels.cl $(PAPER)/parameters.h
	@mkdir -p $(@D)
	$(CC) -E -undef -nostdinc -iquote . -x c $< -o $@

# For the virtual one.
$(B)/vgpu/paper.so: $(PAPER)/kernels.cu $(PAPER)/parameters.h tests/vgpu/vgpu-cc $(wildcard tests/vgpu/include/*.h)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ -iquote . $(WARNINGS) $(SANFLAGS)
