# SPDX-License-Identifier: MIT
# What libraries and tools have in common. What throws, or knows the standard clock, is for devices and graphs alone.
BASE_SRCS := $(filter-out %/worker.cpp %/bad_access.cpp %/chrono_clock.cpp %/c_error.cpp %/nvtx.cpp %/trace_events.cpp, \
	$(wildcard libptsched/base/*.cpp))

# Headers of the toolkit, if it is there: NVTX is nothing else.
CUDA_INCLUDE   ?= /usr/local/cuda/include
NVTX_CPPFLAGS  := $(if $(wildcard $(CUDA_INCLUDE)/nvtx3/nvToolsExt.h),-DPTSCHED_NVTX -isystem $(CUDA_INCLUDE))
$(B)/obj/libptsched/base/nvtx.cpp.o: CPPFLAGS += $(NVTX_CPPFLAGS)
