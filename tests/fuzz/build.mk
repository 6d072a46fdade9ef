# SPDX-License-Identifier: MIT
HOSTILE_OBJS := $(patsubst %,$(B)/obj/tests/fuzz/%.cpp.o,hostile main)

$(B)/obj/tests/fuzz/%.o: CPPFLAGS += -Ilibptsched/client -Itests/conformance

$(B)/tests/hostile-peers: $(HOSTILE_OBJS) $(CONFORMANCE_LIB) $(B)/lib/libptsched-core.a | $(B)/bin/ptschedd
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

TESTS += $(B)/tests/hostile-peers
