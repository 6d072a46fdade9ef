# SPDX-License-Identifier: MIT
# The examples: a program of a file each.
PTASK_EXAMPLES := $(patsubst samples/ptask/%.cpp,$(B)/samples/%,$(wildcard samples/ptask/*.cpp)) $(B)/samples/chain-c

define link_example
@mkdir -p $(@D)
$(CXX) $(LDFLAGS) -o $@ $< $(PTASK_LINK) -Wl,-rpath,'$$ORIGIN/../lib'
endef

$(filter-out %/chain-c %/call,$(PTASK_EXAMPLES)): $(B)/samples/%: $(B)/obj/samples/ptask/%.cpp.o $(B)/lib/libptask.so
	$(link_example)

$(B)/samples/chain-c: $(B)/obj/samples/ptask/chain.c.o $(B)/lib/libptask.so
	$(link_example)

# It calls the driver.
$(B)/samples/call: $(B)/obj/samples/ptask/call.cpp.o $(B)/lib/libptask.so $(CUDA_STUB)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< $(PTASK_LINK) $(CUDA_STUB) -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(PTASK_EXAMPLES)

# Where the CUDA toolkit is.
$(B)/obj/samples/ptask/cuda/%.o: CPPFLAGS += -isystem $(CUDA_INC)
$(B)/samples/cublas: $(B)/obj/samples/ptask/cuda/cublas.cpp.o $(B)/lib/libptask.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< $(PTASK_LINK) -L$(CUDA_INC)/../lib64 -lcublas -Wl,-rpath,'$$ORIGIN/../lib' \
		-Wl,-rpath,$(CUDA_INC)/../lib64
