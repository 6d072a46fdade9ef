# SPDX-License-Identifier: MIT
# libptask.so: graphs of tasks for accelerators and the host, on top of the devices of libptsched/device.
PTASK_SRCS := $(DEVICE_SRCS) $(wildcard libptsched/ptask/*.cpp)
PTASK_OBJS := $(PTASK_SRCS:%=$(B)/obj/%.o)
# What a program in C++ includes: ptask.hpp, draw.hpp, remote.hpp, server.hpp, stream.hpp, typed.hpp, and what these
# need.
PTASK_HEADERS := $(addprefix libptsched/ptask/,$(addsuffix .hpp,ptask draw stream server remote typed \
	options port arguments ring stream_call shared template worker)) \
	$(addprefix libptsched/device/,$(addsuffix .hpp,datablock copy device mutex residents view)) libptsched/client/fd.hpp

$(PTASK_OBJS): CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/client -Ilibptsched/ptask/include
ifneq ($(findstring thread,$(SAN)),)
$(PTASK_OBJS): CPPFLAGS += -DPTSCHED_THREAD_SANITIZER
endif
# Nobody replaces its functions: calls within it are direct, and can be inlined.
$(PTASK_OBJS): CXXFLAGS += -fno-semantic-interposition

# It brings its own libptsched, which does not shadow the program's.
$(B)/lib/libptask.so: $(PTASK_OBJS) $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,libptask.so -Wl,-z,nodelete -Wl,-Bsymbolic-functions \
		-Wl,--exclude-libs,libptsched-core.a $^ -ldl -o $@

ALL += $(B)/lib/libptask.so
