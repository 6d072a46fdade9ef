# SPDX-License-Identifier: MIT
# One program for module and broker; the name under which it is installed in the VM
# tells it which.
CONFORMANCE_DIR   := tests/conformance
CONFORMANCE_NAMES := tap scheduler genl actor
CONFORMANCE_LIB   := $(CONFORMANCE_NAMES:%=$(B)/obj/$(CONFORMANCE_DIR)/%.cpp.o)
CONFORMANCE_OBJS  := $(call objects,$(wildcard $(CONFORMANCE_DIR)/cases_*.cpp) $(CONFORMANCE_DIR)/main.cpp)


$(B)/tests/conformance: $(CONFORMANCE_OBJS)
$(B)/tests/broker-end: $(B)/obj/$(CONFORMANCE_DIR)/broker_end.cpp.o
$(B)/tests/pair: $(B)/obj/$(CONFORMANCE_DIR)/pair.cpp.o

$(B)/tests/file-closer: $(patsubst %,$(B)/obj/%.cpp.o,$(CONFORMANCE_DIR)/file_closer $(CONFORMANCE_DIR)/tap \
		tools/ptschedd/file_closer tools/ptschedd/event_loop libptsched/base/time_calls)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

$(B)/tests/conformance $(B)/tests/broker-end $(B)/tests/pair: $(CONFORMANCE_LIB) $(B)/lib/libptsched-core.a | $(B)/bin/ptschedd
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) -o $@

ALL      += $(B)/tests/pair
TESTS    += $(B)/tests/conformance $(B)/tests/broker-end $(B)/tests/file-closer
VM_FILES += $(B)/tests/conformance:/vm/tests/conformance-module $(B)/tests/pair:/vm/bench/pair-module
VM_TESTS += /vm/tests/conformance-module
