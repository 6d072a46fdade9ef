# SPDX-License-Identifier: MIT
# What the model knows of this machine, measured and shown.
ROOFLINE_TOOL_OBJS := $(call objects,$(filter-out %/main.cpp,$(wildcard tools/ptsched-roofline/*.cpp)))

$(B)/bin/ptsched-roofline: $(B)/obj/tools/ptsched-roofline/main.cpp.o $(ROOFLINE_TOOL_OBJS) \
		$(call objects,$(wildcard libptsched/spmd/roofline/*.cpp libptsched/spmd/model/*.cpp)) \
		$(DEVICE_OBJS) $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ -ldl

ALL += $(B)/bin/ptsched-roofline
