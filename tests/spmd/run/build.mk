# SPDX-License-Identifier: MIT
# Jobs on cores, by one rank and several.

$(B)/tests/spmd-run: $(call objects,$(wildcard tests/spmd/run/*.cpp)) $(SPMD_OBJS) $(DEVICE_OBJS) $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -ldl

TESTS += $(B)/tests/spmd-run
