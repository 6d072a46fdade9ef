# SPDX-License-Identifier: MIT
# The model and the schedulers of spmd, by random cases.
SPMD_MODEL_OBJS := $(call objects,$(wildcard libptsched/spmd/model/*.cpp libptsched/spmd/schedule/*.cpp))

$(B)/tests/spmd-model: $(call objects,$(wildcard tests/spmd/model/*.cpp)) $(SPMD_MODEL_OBJS) $(SPMD_SIM_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ -lrapidcheck

TESTS += $(B)/tests/spmd-model
