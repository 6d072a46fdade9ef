# SPDX-License-Identifier: MIT
# libptsched-device.so: devices with their memory and queues, for all systems of a process.
# OpenCL's headers are needed for OpenCL only; its library is found at run time.
DEVICE_HAS_OPENCL := $(shell echo '\#include <CL/cl.h>' | $(CXX) -E -x c++ - >/dev/null 2>&1 && echo yes)
DEVICE_SRCS := $(filter-out $(if $(DEVICE_HAS_OPENCL),%/no_opencl.cpp,%/opencl.cpp %/opencl_code.cpp %/icd.cpp), \
	$(wildcard libptsched/device/*.cpp)) libptsched/base/time_source.cpp
DEVICE_OBJS := $(DEVICE_SRCS:%=$(B)/obj/%.o)
DEVICE_SO   := $(B)/lib/libptsched-device.so

# Nobody replaces its functions: calls within it are direct, and can be inlined.
$(DEVICE_OBJS): CXXFLAGS += -fvisibility=hidden -fno-semantic-interposition
ifneq ($(findstring thread,$(SAN)),)
$(DEVICE_OBJS): CPPFLAGS += -DPTSCHED_THREAD_SANITIZER
endif

# It brings its own libptsched, which does not shadow the program's. Threads of its own may run until a process ends: it
# stays.
$(DEVICE_SO).$(VERSION): $(DEVICE_OBJS) $(B)/lib/libptsched-core.a libptsched/device/libptsched-device.map
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,$(notdir $(DEVICE_SO)).0 -Wl,-z,nodelete -Wl,-Bsymbolic-functions \
		-Wl,--version-script=libptsched/device/libptsched-device.map $(filter %.o %.a,$^) -ldl -o $@

$(DEVICE_SO).0: $(DEVICE_SO).$(VERSION)
	ln -sf $(<F) $@

$(DEVICE_SO): $(DEVICE_SO).0
	ln -sf $(<F) $@

ALL += $(DEVICE_SO)
