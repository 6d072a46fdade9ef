# SPDX-License-Identifier: MIT
# Tests of the module, for the test VM: programs that print KTAP, built by the Makefile
# that they have in the kernel's tree.
KSELFTEST_TOOLS = $(shell bash -c '. scripts/lib.sh && kernel_tools')/tools/testing/selftests
KSELFTEST_OUT  := $(abspath $(B)/tests/kselftest)

kselftests = $(shell sed -n 's/^$(1) := //p' tests/kselftest/Makefile)
KSELFTEST_PROGRAMS := $(call kselftests,TEST_GEN_PROGS) $(call kselftests,TEST_GEN_FILES)
# Those that say something only where the clocks count instructions.
KSELFTEST_COUNTED  := $(call kselftests,TEST_GEN_PROGS_EXTENDED)
KSELFTEST_BIN      := $(addprefix $(B)/tests/kselftest/,$(KSELFTEST_PROGRAMS) $(KSELFTEST_COUNTED))

# Its make knows what is to be done. Without SAN: they run in the VM only.
.PHONY: kselftests
kselftests:
	@mkdir -p $(KSELFTEST_OUT)
	@$(MAKE) -s -C tests/kselftest SELFTESTS=$(KSELFTEST_TOOLS) OUTPUT=$(KSELFTEST_OUT) \
		KHDR_INCLUDES="-I$(abspath uapi) -iquote $(abspath .)" USERCFLAGS=$(if $(WERROR),-Werror) all
$(KSELFTEST_BIN): kselftests ;

VM_FILES += $(KSELFTEST_BIN:%=%:/vm/tests/)
VM_FILES += $(foreach script,module pci,tests/kselftest/$(script).sh:/vm/tests/$(script).sh)
VM_TESTS += $(KSELFTEST_PROGRAMS:%=/vm/tests/%) /vm/tests/module.sh /vm/tests/pci.sh

TESTS       += tests/kselftest/layout_test
TESTS_NOSAN += tests/kselftest/layout_test
