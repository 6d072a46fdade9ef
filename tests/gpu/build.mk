# SPDX-License-Identifier: MIT
# What tests on a real GPU need: the interposer, the broker, graphs and CUDA programs. Needs the
# CUDA toolkit, and nothing for the command line tool (no libnl, CLI11 or ncurses).

NVCC      ?= $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
NVCCFLAGS ?= -arch=sm_90
CUDA_INC   = $(abspath $(dir $(NVCC))../include)

GPU_PROGRAMS := $(addprefix $(B)/gpu/,\
	work arrive launch_overhead bandwidth births blocking clocked departures forks ipc latches libraries managed mechanisms \
	persistent)
$(B)/gpu/libraries: NVCC_LIBS := -lcublas -lcufft -lcusparse

.PHONY: gpu-parts
gpu-parts: gpu-programs $(B)/lib/libptsched-preload.so $(B)/bin/ptschedd

.PHONY: gpu-programs
gpu-programs: $(GPU_PROGRAMS) $(B)/gpu/faulty_graph $(B)/gpu/faults.fatbin gpu-compiled

# Graphs with CUDA source and PTX.
.PHONY: gpu-compiled
gpu-compiled: $(B)/gpu/compiled_graph $(B)/gpu/multiply_add.ptx $(addprefix $(B)/samples/,source call cublas) \
	$(B)/gpu/embedded

# The runtime is linked statically, as nvcc does when it is not told otherwise.
$(B)/gpu/%: tests/gpu/%.cu tests/gpu/serve.hpp tests/gpu/job.hpp
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -O2 -std=c++17 -I. -Xcompiler -Wall,-Wextra -o $@ $< $(NVCC_LIBS)

$(B)/gpu/%.fatbin: tests/gpu/%.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -O2 -std=c++17 -I. -fatbin -o $@ $<

$(B)/gpu/%.ptx: tests/gpu/%.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -O2 -std=c++17 -I. -ptx -o $@ $<

$(addprefix $(B)/gpu/,faulty_graph compiled_graph): $(B)/gpu/%: $(B)/obj/tests/gpu/%.cpp.o $(B)/lib/libptask.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< $(PTASK_LINK) -Wl,-rpath,'$$ORIGIN/../lib'

# A program of nvcc's with graphs.
$(B)/gpu/embedded: tests/gpu/embedded.cu $(B)/lib/libptask.so
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -O2 -std=c++20 -Xcompiler -Wall,-Wextra -Ilibptsched/include -o $@ $< \
		-L$(B)/lib -lptask -lptsched-device -Xlinker -rpath,'$$ORIGIN/../lib'

# With what the interposer knows of channels, and its ioctl(): the linker exports it, since the C library has one.
MECHANISMS_OBJS := $(addprefix $(B)/obj/preload/libptsched/,preload/turn/channels.cpp.o preload/entry/ioctl.cpp.o \
	rm/control_device.cpp.o rm/rm_channels.cpp.o)
$(B)/gpu/mechanisms: tests/gpu/mechanisms.cu tests/gpu/serve.hpp tests/gpu/job.hpp $(MECHANISMS_OBJS)
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -O2 -std=c++20 -Xcompiler -Wall,-Wextra -I. -Ilibptsched/include -o $@ $< \
		$(MECHANISMS_OBJS)

# Compiles or not; there is nothing to run.
.PHONY: gpu-abi
gpu-abi:
	@mkdir -p $(B)/gpu
	$(CXX) -std=c++20 -iquote . -isystem $(CUDA_INC) -c -o $(B)/gpu/cuda_abi_check.o \
		tests/unit/cuda_abi_check.cpp
