# SPDX-License-Identifier: MIT
# Tests of the module, for the test VM: programs that print KTAP, built with the
# kernel's own harness. The 32-bit one is the same source.
KSELFTEST_TOOLS = $(shell bash -c '. scripts/lib.sh && kernel_tools')/tools/testing/selftests

KSELFTEST_PROGRAMS := act_for arguments faults fdinfo files netlink pair pci sequences storm trace
# Those that say something only where the clocks count instructions.
KSELFTEST_COUNTED  := $(B)/tests/kselftest/holds
KSELFTEST_BIN      := $(KSELFTEST_PROGRAMS:%=$(B)/tests/kselftest/%) $(B)/tests/kselftest/arguments32

# The harness is not made for -Wextra; without SAN: they run in the VM only.
KSELFTEST_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-unused-variable \
	-Wno-missing-field-initializers -Wno-sign-compare $(if $(WERROR),-Werror) -pthread

$(B)/tests/kselftest/sequences: KSELFTEST_MORE := tests/kselftest/sequence_calls.c
$(B)/tests/kselftest/sequences: tests/kselftest/sequence_calls.c tests/kselftest/sequences.h

$(B)/tests/kselftest/%: tests/kselftest/%.c tests/kselftest/ks_netlink.c tests/kselftest/ks.h \
		tests/kselftest/harness.h tests/kselftest/ks_netlink.h uapi/linux/ptsched.h
	@mkdir -p $(@D)
	$(CC) $(KSELFTEST_CFLAGS) -D_GNU_SOURCE -Iuapi -isystem $(KSELFTEST_TOOLS) -I/usr/include/libnl3 \
		-o $@ $< $(KSELFTEST_MORE) tests/kselftest/ks_netlink.c -lnl-genl-3 -lnl-3

$(B)/tests/kselftest/%32: tests/kselftest/%.c tests/kselftest/ks.h tests/kselftest/harness.h uapi/linux/ptsched.h
	@mkdir -p $(@D)
	$(CC) -m32 -static $(KSELFTEST_CFLAGS) -D_GNU_SOURCE -Iuapi -isystem $(KSELFTEST_TOOLS) -o $@ $<

VM_FILES += $(foreach program,$(KSELFTEST_BIN) $(KSELFTEST_COUNTED),$(program):/vm/tests/$(notdir $(program)))
VM_FILES += $(foreach script,module pci,tests/kselftest/$(script).sh:/vm/tests/$(script).sh)
VM_TESTS += $(foreach program,$(KSELFTEST_BIN),/vm/tests/$(notdir $(program)))
VM_TESTS += /vm/tests/module.sh /vm/tests/pci.sh
