# SPDX-License-Identifier: MIT
# What the model knows of this machine, measured and shown.
ROOFLINE_TOOL_OBJS := $(patsubst %,$(B)/obj/%.o,$(wildcard tools/ptsched-roofline/*.cpp))

$(B)/bin/ptsched-roofline: $(ROOFLINE_TOOL_OBJS) \
		$(patsubst %,$(B)/obj/%.o,$(wildcard libptsched/spmd/roofline/*.cpp libptsched/spmd/model/*.cpp)) $(DEVICE_SO)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lptsched-device -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(B)/bin/ptsched-roofline
