# SPDX-License-Identifier: MIT
PTSCHEDD_SRCS := $(wildcard tools/ptschedd/*.cpp) libptsched/client/device_name.cpp
PTSCHEDD_OBJS := $(PTSCHEDD_SRCS:%=$(B)/obj/%.o) $(POLICY_SRCS:%=$(B)/obj/%.o)

$(B)/obj/tools/ptschedd/%.o: CPPFLAGS += -Ilibptsched/client

$(B)/bin/ptschedd: $(PTSCHEDD_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

ALL += $(B)/bin/ptschedd
