# SPDX-License-Identifier: MIT
PTSCHEDD_LIBNL := $(shell pkg-config --exists libnl-3.0 libnl-genl-3.0 2>/dev/null && echo libnl-3.0 libnl-genl-3.0)
# The events of the module need libnl; a GPU machine without it has no module either.
PTSCHEDD_SRCS := $(filter-out $(if $(PTSCHEDD_LIBNL),tools/ptschedd/no_module_events.cpp,tools/ptschedd/module_events.cpp),$(wildcard tools/ptschedd/*.cpp)) \
	libptsched/base/time_calls.cpp libptsched/client/device_name.cpp $(wildcard libptsched/rm/*.cpp)
PTSCHEDD_OBJS := $(call objects,$(PTSCHEDD_SRCS)) $(call objects,$(POLICY_SRCS))

$(B)/obj/tools/ptschedd/%.o: CPPFLAGS += $(if $(PTSCHEDD_LIBNL),$(shell pkg-config --cflags $(PTSCHEDD_LIBNL)))

$(B)/bin/ptschedd: $(PTSCHEDD_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@ $(if $(PTSCHEDD_LIBNL),$(shell pkg-config --libs $(PTSCHEDD_LIBNL)))

ALL += $(B)/bin/ptschedd
