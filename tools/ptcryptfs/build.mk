# SPDX-License-Identifier: MIT
# The encrypted file system, where libfuse 3 and OpenSSL are.
PTCRYPTFS_CPPFLAGS := $(shell pkg-config --cflags fuse3 libcrypto 2>/dev/null)
PTCRYPTFS_LIBS     := $(shell pkg-config --libs fuse3 libcrypto 2>/dev/null)
PTCRYPTFS_OBJS     := $(call objects,$(wildcard tools/ptcryptfs/*/*.cpp tools/ptcryptfs/*.cpp))

$(PTCRYPTFS_OBJS): CPPFLAGS += $(PTCRYPTFS_CPPFLAGS)

# What the compiler does not see: the file is included as it is.
$(B)/obj/tools/ptcryptfs/gpu/kernel_image.cpp.o: tools/ptcryptfs/gpu/kernels.ptx

$(B)/bin/ptcryptfs: $(PTCRYPTFS_OBJS) $(PTASK_INSIDES)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ $(PTCRYPTFS_LIBS) -ldl

ALL += $(if $(PTCRYPTFS_LIBS),$(B)/bin/ptcryptfs)
