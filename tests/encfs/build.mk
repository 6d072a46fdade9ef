# SPDX-License-Identifier: MIT
# What ptcryptfs stores, without a kernel; and with one, where it can be mounted.
ENCFS_OBJS := $(call objects,$(wildcard tests/encfs/*.cpp $(patsubst %,tools/ptcryptfs/%/*.cpp,crypt volume store)))

$(B)/tests/encfs: $(ENCFS_OBJS) $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ -lcrypto

$(addprefix tests/encfs/,mounted_test trouble_test): | $(B)/bin/ptcryptfs $(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/ptx/ptcryptfs_xts.so

tests/encfs/bench_test: | $(B)/bin/ptcryptfs $(addprefix $(B)/bin/,ptschedd ptsched) $(PRELOAD_SO) \
	$(addprefix $(B)/vgpu/,vgpud libcuda.so inversion-client kernels.so ptx/ptcryptfs_xts.so)

# The same by a GPU.
ENCFS_GPU_OBJS := $(call objects,$(wildcard tests/encfs/gpu/*.cpp tools/ptcryptfs/gpu/*.cpp tools/ptcryptfs/crypt/*.cpp) tests/encfs/known_answers.cpp)

$(B)/obj/tests/encfs/gpu/main.cpp.o: CPPFLAGS += -DKERNEL_PTX='"$(abspath scripts/kernel-ptx)"'

$(B)/tests/encfs-gpu: $(ENCFS_GPU_OBJS) $(sort $(PTASK_OBJS) $(DEVICE_OBJS)) $(B)/lib/libptsched-core.a \
		$(B)/vgpu/vgpud $(B)/vgpu/libcuda.so $(B)/vgpu/ptx/ptcryptfs_xts.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -lcrypto -ldl -Wl,--no-as-needed -L$(B)/vgpu -lcuda -Wl,-rpath,'$$ORIGIN/../vgpu'

# Whose requests they are, under the broker; in the VM, under the module.
$(B)/tests/encfs-requesters: $(call objects,$(wildcard tests/encfs/requesters/*.cpp)) \
		$(B)/lib/libptsched.so \
		| $(B)/bin/ptcryptfs $(B)/tests/ptask-attach-client $(addprefix $(B)/bin/,ptschedd ptsched) $(PRELOAD_SO) \
		$(addprefix $(B)/vgpu/,vgpud libcuda.so inversion-client kernels.so ptx/ptcryptfs_xts.so)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched -Wl,-rpath,'$$ORIGIN/../lib'

VM_FILES += $(B)/tests/encfs-requesters:/vm/tests/encfs-requesters-module $(B)/bin/ptcryptfs:/vm/bin/ \
	$(B)/vgpu/ptx/ptcryptfs_xts.so:/usr/lib/ptx/
VM_TESTS += /vm/tests/encfs-requesters-module

TESTS       += $(addprefix $(B)/tests/,encfs encfs-gpu encfs-requesters) $(addprefix tests/encfs/,mounted_test trouble_test bench_test)
TESTS_NOSAN += $(B)/tests/encfs-requesters $(addprefix tests/encfs/,mounted_test trouble_test bench_test)
