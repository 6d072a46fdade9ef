# SPDX-License-Identifier: MIT
# One program for module and broker; the name under which it is installed in the VM
# tells it which.
CONFORMANCE_DIR  := tests/conformance
CONFORMANCE_LIB  := $(patsubst %,$(B)/obj/$(CONFORMANCE_DIR)/%.cpp.o,tap scheduler genl actor)
CONFORMANCE_OBJS := $(patsubst %,$(B)/obj/%.o,$(wildcard $(CONFORMANCE_DIR)/cases_*.cpp) $(CONFORMANCE_DIR)/main.cpp)

$(B)/obj/$(CONFORMANCE_DIR)/%.o: CPPFLAGS += -Ilibptsched/client

$(B)/tests/conformance: $(CONFORMANCE_OBJS) $(CONFORMANCE_LIB) $(B)/lib/libptsched-core.a | $(B)/bin/ptschedd
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

TESTS    += $(B)/tests/conformance
VM_FILES += $(B)/tests/conformance:/vm/tests/conformance-module
VM_TESTS += /vm/tests/conformance-module
