# SPDX-License-Identifier: MIT
HOSTILE_OBJS := $(patsubst %,$(B)/obj/tests/fuzz/%.cpp.o,broker_messages hostile main)

$(B)/tests/hostile-peers: $(HOSTILE_OBJS) $(CONFORMANCE_LIB) $(B)/lib/libptsched-core.a | $(B)/bin/ptschedd
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

TESTS += $(B)/tests/hostile-peers tests/fuzz/syzkaller/complete_test
TESTS_NOSAN += tests/fuzz/syzkaller/complete_test

# Fuzz targets, with clang's libFuzzer and sanitizers whatever the rest is built with. Of what they test they have
# objects of their own: it is these whose coverage counts.
FUZZ_TARGETS := policy broker client tools
FUZZ_DIR     := $(B)/fuzz
FUZZ_SAN     := address,undefined
FUZZ_FLAGS   := -O1 -g1 -Wall -Wextra $(if $(WERROR),-Werror) -pthread -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fno-sanitize=function,enum,vptr
FUZZ_INCLUDE := -iquote . -Ilibptsched/include -Iuapi -D_GNU_SOURCE -DPTSCHED_VERSION='"$(VERSION)"' \
	-DPTSCHED_LIBDIR='"$(libdir)"' -DPTSCHED_TRIPLET='"x86_64-linux-gnu"' \
	$(shell pkg-config --cflags libnl-3.0 libnl-genl-3.0 2>/dev/null)

# Without threads, signals, drivers and cgroups: those have stand-ins.
FUZZ_BROKER_SRCS := $(filter-out $(addprefix tools/ptschedd/,$(addsuffix .cpp,main options log module_events \
	switch_thread file_closer cgroup)),$(wildcard tools/ptschedd/*.cpp)) libptsched/client/device_name.cpp $(POLICY_SRCS)
FUZZ_CLIENT_SRCS := $(filter-out libptsched/base/time_calls.cpp,$(BASE_SRCS) $(wildcard libptsched/client/*.cpp)) kmod/policy/weight.c
FUZZ_TOOLS_SRCS  := $(addprefix tools/ptsched/,$(addsuffix .cpp,accounts attributes broker events format netlink openmetrics \
	replace_file scheduler set stat units write_all)) libptsched/base/time_calls.cpp libptsched/client/device_name.cpp

fuzz_objs = $(patsubst %,$(FUZZ_DIR)/obj/%.o,$(1))
fuzz_own  = $(call fuzz_objs,$(patsubst %,tests/fuzz/%.cpp,$(1)))

$(FUZZ_DIR)/policy: $(call fuzz_objs,tests/fuzz/fuzz_policy.c $(POLICY_SRCS))
$(FUZZ_DIR)/broker: $(call fuzz_own,fuzz_broker broker_messages fake_cgroup fake_driver fuzz_clock \
		peers) \
	$(call fuzz_objs,$(FUZZ_BROKER_SRCS))
$(FUZZ_DIR)/client: $(call fuzz_own,fuzz_client fuzz_clock script scripted_broker) $(call fuzz_objs,$(FUZZ_CLIENT_SRCS))
$(FUZZ_DIR)/tools: $(call fuzz_own,fuzz_tools fake_cgroup_paths fake_netlink script scripted_broker) $(call fuzz_objs,$(FUZZ_TOOLS_SRCS))

$(FUZZ_DIR)/policy: FUZZ_LIBS := -lcmocka
$(FUZZ_DIR)/tools: FUZZ_LIBS := -lnl-genl-3 -lnl-3

$(FUZZ_TARGETS:%=$(FUZZ_DIR)/%):
	@mkdir -p $(@D)
	clang++ -fsanitize=fuzzer,$(FUZZ_SAN) -pthread $^ $(FUZZ_LIBS) -o $@

FUZZ_CXX := clang++ -std=c++20 $(FUZZ_INCLUDE) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SAN)

$(FUZZ_DIR)/std.hpp.gch: $(FUZZ_DIR)/%.gch: $(FUZZ_DIR)/%
	CCACHE_DISABLE=1 $(FUZZ_CXX) -x c++-header $< -o $@

$(FUZZ_DIR)/obj/%.cpp.o: %.cpp | $(FUZZ_DIR)/std.hpp.gch
	@mkdir -p $(@D)
	$(FUZZ_CXX) -include $(FUZZ_DIR)/std.hpp -MMD -MP -c $< -o $@

$(FUZZ_DIR)/obj/%.c.o: %.c
	@mkdir -p $(@D)
	clang -std=gnu11 $(FUZZ_INCLUDE) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SAN) -MMD -MP -c $< -o $@

-include $(shell find $(FUZZ_DIR)/obj -name '*.d' 2>/dev/null)

.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_TARGETS:%=$(FUZZ_DIR)/%)
