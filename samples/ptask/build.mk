# SPDX-License-Identifier: MIT
# The examples: a program of a file each.
PTASK_EXAMPLES := $(patsubst samples/ptask/%.cpp,$(B)/samples/%,$(wildcard samples/ptask/*.cpp)) $(B)/samples/chain-c

$(B)/obj/samples/ptask/%.o: CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/client -Ilibptsched/ptask \
	-Ilibptsched/ptask/include

define link_example
@mkdir -p $(@D)
$(CXX) $(LDFLAGS) -o $@ $< -L$(B)/lib -lptask -Wl,-rpath,'$$ORIGIN/../lib'
endef

$(filter-out %/chain-c,$(PTASK_EXAMPLES)): $(B)/samples/%: $(B)/obj/samples/ptask/%.cpp.o $(B)/lib/libptask.so
	$(link_example)

$(B)/samples/chain-c: $(B)/obj/samples/ptask/chain.c.o $(B)/lib/libptask.so
	$(link_example)

ALL += $(PTASK_EXAMPLES)
