# SPDX-License-Identifier: MIT
# libptask.so: graphs of tasks for accelerators and the host, on top of the devices of libptsched/device.
PTASK_SRCS := $(DEVICE_SRCS) $(wildcard libptsched/ptask/*.cpp)
PTASK_OBJS := $(PTASK_SRCS:%=$(B)/obj/%.o)
# What a program in C++ includes, by ptask.hpp or draw.hpp.
PTASK_HEADERS := $(addprefix libptsched/ptask/,ptask.hpp draw.hpp options.hpp port.hpp ring.hpp template.hpp) \
	$(addprefix libptsched/device/,datablock.hpp copy.hpp device.hpp residents.hpp)

$(PTASK_OBJS): CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/client -Ilibptsched/ptask/include
# Nobody replaces its functions: calls within it are direct, and can be inlined.
$(PTASK_OBJS): CXXFLAGS += -fno-semantic-interposition

$(B)/lib/libptask.so: $(PTASK_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,libptask.so -Wl,-Bsymbolic-functions $^ -ldl -o $@

ALL += $(B)/lib/libptask.so
