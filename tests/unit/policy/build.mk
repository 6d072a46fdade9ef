# SPDX-License-Identifier: MIT
# The policy's own tests; they may call kmod/policy and nothing else.
POLICY_TESTS := rules budgets groups handover preemption beside above gang scenario random scale attacks
POLICY_TEST_OBJS := $(addprefix $(B)/obj/,$(addsuffix .o,$(POLICY_SRCS)))
TESTS += $(POLICY_TESTS:%=$(B)/tests/policy_%)
# They have one thread.
TESTS_NOSAN += $(if $(findstring thread,$(SAN)),$(POLICY_TESTS:%=$(B)/tests/policy_%))
# An hour and a half of simulated time, and no call that the others do not make.
TESTS_NOSAN += $(B)/tests/policy_attacks

$(B)/tests/policy_scenario $(B)/tests/policy_groups: $(B)/obj/tests/unit/policy/sim.c.o
$(B)/tests/policy_attacks: $(B)/obj/tests/unit/policy/rivals.c.o
$(B)/tests/policy_%: $(B)/obj/tests/unit/policy/%_test.c.o $(POLICY_TEST_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -lm

$(B)/tests/bench-policy: $(B)/obj/tests/unit/policy/bench.c.o $(POLICY_TEST_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

ALL += $(B)/tests/bench-policy
