# SPDX-License-Identifier: MIT
# Pools of tasks, on the virtual GPU.

$(B)/vgpu/pool-kernels.so: tests/pool/kernels.cu tests/pool/tasks.h $(POOL_HEADERS) tests/vgpu/vgpu-cc $(wildcard tests/vgpu/include/*.h)
	@mkdir -p $(@D)
	CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ -iquote . -Ilibptsched/include $(WARNINGS) $(SANFLAGS)

$(B)/tests/pool: $(patsubst %,$(B)/obj/%.o,$(wildcard tests/pool/*.cpp) tests/device/rival.cpp) $(POOL_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a \
		$(B)/bin/ptschedd $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(addprefix $(B)/vgpu/,pool-kernels.so kernels.so) \
		$(if $(SAN),,$(B)/samples/quadrature) $(B)/vgpu/quadrature.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

TESTS += $(B)/tests/pool
