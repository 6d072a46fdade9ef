# SPDX-License-Identifier: MIT
# Examples of pools, and what measures them.
POOL_LINK := -L$(B)/lib -Wl,--push-state,--no-as-needed -lptsched-pool -lptsched-device -Wl,--pop-state

$(B)/samples/quadrature: $(B)/obj/samples/pool/quadrature.cpp.o $(B)/lib/libptsched-pool.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< $(POOL_LINK) -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(B)/samples/quadrature

$(B)/vgpu/quadrature.so: samples/pool/quadrature.cu samples/pool/quadrature.h $(POOL_HEADERS) tests/vgpu/vgpu-cc \
		$(wildcard tests/vgpu/include/*.h)
	@mkdir -p $(@D)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ -iquote . -Ilibptsched/include $(WARNINGS) $(SANFLAGS)

POOL_BENCH := samples/pool/bench
$(B)/samples/bench-pool: $(patsubst %,$(B)/obj/%.o,$(wildcard $(POOL_BENCH)/*.cpp)) $(B)/lib/libptsched-pool.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(POOL_LINK) -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(B)/samples/bench-pool

# For a real GPU.
$(B)/samples/pool.fatbin: $(POOL_BENCH)/kernels.cu $(POOL_BENCH)/tasks.h $(POOL_HEADERS)
	@mkdir -p $(@D)
	@command -v $(NVCC) >/dev/null || { echo "bench-pool needs nvcc (CUDA toolkit); NVCC names it" >&2; exit 1; }
	$(NVCC) $(NVCCFLAGS) -O3 -std=c++20 -I. -Ilibptsched/include -fatbin -o $@ $<

.PHONY: bench-pool-parts
bench-pool-parts: $(B)/samples/bench-pool $(B)/samples/pool.fatbin
