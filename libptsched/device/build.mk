# SPDX-License-Identifier: MIT
# Devices of graphs, a part of libptask.so. OpenCL's headers are needed for OpenCL only; its library is found at run time.
DEVICE_HAS_OPENCL := $(shell echo '\#include <CL/cl.h>' | $(CXX) -E -x c++ - >/dev/null 2>&1 && echo yes)
DEVICE_SRCS := $(filter-out $(if $(DEVICE_HAS_OPENCL),%/no_opencl.cpp,%/opencl.cpp %/opencl_code.cpp %/icd.cpp), \
	$(wildcard libptsched/device/*.cpp))
