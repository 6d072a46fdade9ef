# SPDX-License-Identifier: MIT
# The simulator, and its test, which is made of the same parts.
PTSIM_LIB_OBJS := $(call objects,$(filter-out tools/ptsim/main.cpp,$(wildcard tools/ptsim/*.cpp tools/ptsim/*/*.cpp)) \
	$(POLICY_SRCS))

$(B)/bin/ptsim: $(B)/obj/tools/ptsim/main.cpp.o $(PTSIM_LIB_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

$(B)/tests/simulate: $(call objects,$(wildcard tests/simulate/*.cpp)) $(PTSIM_LIB_OBJS)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

ALL += $(B)/bin/ptsim
TESTS += $(B)/tests/simulate tests/simulate/report_test
# The report is a script's, and the other has one thread.
TESTS_NOSAN += tests/simulate/report_test $(if $(findstring thread,$(SAN)),$(B)/tests/simulate)
