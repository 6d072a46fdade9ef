# SPDX-License-Identifier: MIT
# Jobs of spmd on clusters that are made up.
SPMD_SIM_OBJS := $(call objects,$(filter-out tools/ptsched-spmd-sim/main.cpp,$(wildcard tools/ptsched-spmd-sim/*.cpp)))

$(B)/tests/spmd-sim: $(B)/obj/tools/ptsched-spmd-sim/main.cpp.o $(SPMD_SIM_OBJS) \
		$(call objects,$(wildcard libptsched/spmd/schedule/*.cpp))
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

ALL += $(B)/tests/spmd-sim

.PHONY: simulate-spmd
simulate-spmd: setup $(B)/tests/spmd-sim ## spmd's schedulers on clusters that are made up; results in out/simulate-spmd (SIMULATE="--nodes 1024")
	@scripts/simulate-spmd --simulator $(B)/tests/spmd-sim $(SIMULATE)
