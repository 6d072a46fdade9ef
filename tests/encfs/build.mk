# SPDX-License-Identifier: MIT
# What ptcryptfs stores, without a kernel; and with one, where it can be mounted.
ENCFS_OBJS := $(patsubst %,$(B)/obj/%.o,$(wildcard tests/encfs/*.cpp $(patsubst %,tools/ptcryptfs/%/*.cpp,crypt volume store)))

$(B)/tests/encfs: $(ENCFS_OBJS) $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ -lcrypto

tests/encfs/mounted_test: | $(B)/bin/ptcryptfs

TESTS       += $(B)/tests/encfs tests/encfs/mounted_test
TESTS_NOSAN += tests/encfs/mounted_test
