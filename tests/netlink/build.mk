# SPDX-License-Identifier: MIT
# The specification of the netlink family against header, module and broker.
NETLINK_TESTS := tests/netlink/module_test tests/netlink/broker_test
TESTS         += $(NETLINK_TESTS)
TESTS_NOSAN   += $(NETLINK_TESTS)

tests/netlink/broker_test: | $(B)/bin/ptschedd
