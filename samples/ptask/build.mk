# SPDX-License-Identifier: MIT
# The examples: a program of a file each.
PTASK_EXAMPLES := $(patsubst samples/ptask/%.cpp,$(B)/samples/%,$(wildcard samples/ptask/*.cpp))

$(B)/obj/samples/ptask/%.o: CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/client -Ilibptsched/ptask

$(PTASK_EXAMPLES): $(B)/samples/%: $(B)/obj/samples/ptask/%.cpp.o $(B)/lib/libptask.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< -L$(B)/lib -lptask -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(PTASK_EXAMPLES)
