# SPDX-License-Identifier: MIT
# libptask.so: graphs of tasks for accelerators and the host, on top of libptsched-device.so.
PTASK_SRCS := $(wildcard libptsched/ptask/*/*.cpp) libptsched/base/worker.cpp
PTASK_OBJS := $(PTASK_SRCS:%=$(B)/obj/%.o)
PTASK_SO   := $(B)/lib/libptask.so
# For programs of the tree: a program in C names nothing of the second, which is found by the program's path all the same.
PTASK_LINK := -L$(B)/lib -Wl,--push-state,--no-as-needed -lptask -lptsched-device -Wl,--pop-state
# What tests of its insides are linked with instead.
PTASK_INSIDES := $(PTASK_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a

$(PTASK_OBJS): CXXFLAGS += -fvisibility=hidden -fno-semantic-interposition
ifneq ($(findstring thread,$(SAN)),)
$(PTASK_OBJS): CPPFLAGS += -DPTSCHED_THREAD_SANITIZER
endif

# As libptsched-device.so.
$(PTASK_SO).$(VERSION): $(PTASK_OBJS) $(DEVICE_SO) $(B)/lib/libptsched-core.a libptsched/ptask/libptask.map
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,$(notdir $(PTASK_SO)).0 -Wl,-z,nodelete -Wl,-Bsymbolic-functions \
		-Wl,--version-script=libptsched/ptask/libptask.map $(filter %.o %.a,$^) -L$(B)/lib -lptsched-device -ldl -o $@

$(PTASK_SO).0: $(PTASK_SO).$(VERSION)
	ln -sf $(<F) $@

$(PTASK_SO): $(PTASK_SO).0
	ln -sf $(<F) $@

ALL += $(PTASK_SO)
