# SPDX-License-Identifier: MIT
# Examples of pools.
POOL_LINK := -L$(B)/lib -Wl,--push-state,--no-as-needed -lptsched-pool -lptsched-device -Wl,--pop-state

$(B)/samples/quadrature: $(B)/obj/samples/pool/quadrature.cpp.o $(B)/lib/libptsched-pool.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< $(POOL_LINK) -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(B)/samples/quadrature

$(B)/vgpu/quadrature.so: samples/pool/quadrature.cu samples/pool/quadrature.h $(POOL_HEADERS) tests/vgpu/vgpu-cc \
		$(wildcard tests/vgpu/include/*.h)
	@mkdir -p $(@D)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ -iquote . -Ilibptsched/include $(WARNINGS) $(SANFLAGS)
