# SPDX-License-Identifier: MIT
# The contract's own tests; they may call kmod/contract and what that stands on.
CONTRACT_TESTS := arguments client
TESTS       += $(CONTRACT_TESTS:%=$(B)/tests/contract_%)
# They have one thread.
TESTS_NOSAN += $(if $(findstring thread,$(SAN)),$(CONTRACT_TESTS:%=$(B)/tests/contract_%))

$(B)/tests/contract_%: $(B)/obj/tests/unit/contract/%_test.c.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcmocka
