# SPDX-License-Identifier: MIT
# What the model knows of this machine, measured and shown.
ROOFLINE_TOOL_OBJS := $(patsubst %,$(B)/obj/%.o,$(wildcard tools/ptsched-roofline/*.cpp))

$(B)/bin/ptsched-roofline: $(ROOFLINE_TOOL_OBJS) \
		$(patsubst %,$(B)/obj/%.o,$(wildcard libptsched/spmd/roofline/*.cpp libptsched/spmd/model/*.cpp)) \
		$(DEVICE_OBJS) $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ -ldl

ALL += $(B)/bin/ptsched-roofline
