# SPDX-License-Identifier: MIT
$(B)/obj/samples/ptask/%.o: CPPFLAGS += -Ilibptsched/cuda -Ilibptsched/device -Ilibptsched/ptask

$(B)/samples/chain: $(B)/obj/samples/ptask/chain.cpp.o $(B)/lib/libptask.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< -L$(B)/lib -lptask -Wl,-rpath,'$$ORIGIN/../lib'

ALL += $(B)/samples/chain
