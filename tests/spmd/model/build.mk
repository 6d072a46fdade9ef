# SPDX-License-Identifier: MIT
# The model and the schedulers of spmd, by random cases.
SPMD_MODEL_OBJS := $(patsubst %,$(B)/obj/%.o,$(wildcard libptsched/spmd/model/*.cpp libptsched/spmd/schedule/*.cpp))

$(B)/tests/spmd-model: $(patsubst %,$(B)/obj/%.o,$(wildcard tests/spmd/model/*.cpp)) $(SPMD_MODEL_OBJS) $(SPMD_SIM_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ -lrapidcheck

TESTS += $(B)/tests/spmd-model
