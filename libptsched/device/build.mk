# SPDX-License-Identifier: MIT
# libptsched-device.so: devices with their memory and queues, for all systems of a process.
# OpenCL's headers are needed for OpenCL only; its library is found at run time.
DEVICE_HAS_OPENCL := $(shell echo '\#include <CL/cl.h>' | $(CXX) -E -x c++ - >/dev/null 2>&1 && echo yes)
DEVICE_SRCS := $(filter-out $(if $(DEVICE_HAS_OPENCL),%/no_opencl.cpp,%/opencl.cpp %/opencl_code.cpp %/icd.cpp), \
	$(wildcard libptsched/device/*.cpp)) libptsched/base/chrono_clock.cpp
DEVICE_OBJS := $(call objects,$(DEVICE_SRCS))
DEVICE_SO   := $(B)/lib/libptsched-device.so

# What is made of a library for graphs. Nobody replaces its functions: calls within it are direct, and can be inlined.
LIBRARY_CPPFLAGS := $(if $(findstring thread,$(SAN)),-DPTSCHED_THREAD_SANITIZER)
LIBRARY_CXXFLAGS := -fvisibility=hidden -fno-semantic-interposition
# It brings its own libptsched, which does not shadow the program's. Threads of its own may run until a process ends: it
# stays.
define link_library
@mkdir -p $(@D)
$(CXX) $(LDFLAGS) -shared -Wl,-soname,$(@F:%.$(VERSION)=%.0) -Wl,-z,nodelete -Wl,-Bsymbolic-functions \
	-Wl,--version-script=$(filter %.map,$^) $(filter %.o %.a,$^) $(1) -ldl -o $@
endef

$(DEVICE_OBJS): CPPFLAGS += $(LIBRARY_CPPFLAGS)
$(DEVICE_OBJS): CXXFLAGS += $(LIBRARY_CXXFLAGS) $(DESCRIBED)
$(DEVICE_SO).$(VERSION): $(DEVICE_OBJS) $(B)/lib/libptsched-core.a libptsched/device/libptsched-device.map
	$(call link_library)

ALL += $(DEVICE_SO)
