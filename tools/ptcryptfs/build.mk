# SPDX-License-Identifier: MIT
# The encrypted file system, where libfuse 3 and OpenSSL are.
PTCRYPTFS_CPPFLAGS := $(shell pkg-config --cflags fuse3 libcrypto 2>/dev/null)
PTCRYPTFS_LIBS     := $(shell pkg-config --libs fuse3 libcrypto 2>/dev/null)
PTCRYPTFS_OBJS     := $(patsubst %,$(B)/obj/%.o,$(wildcard tools/ptcryptfs/*/*.cpp tools/ptcryptfs/*.cpp))

$(PTCRYPTFS_OBJS): CPPFLAGS += $(PTCRYPTFS_CPPFLAGS)

$(B)/bin/ptcryptfs: $(PTCRYPTFS_OBJS) $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ $(PTCRYPTFS_LIBS)

ALL += $(if $(PTCRYPTFS_LIBS),$(B)/bin/ptcryptfs)
