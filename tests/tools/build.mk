# SPDX-License-Identifier: MIT
# Tests of the tool ptsched against a broker (tools.py) and, in the VM, against the module
# (vm.sh). They join the lists in tools/ptsched/build.mk, which knows whether there is a tool.

TOOLS_TEST_PY := $(wildcard tests/tools/*.py)

$(B)/tests/tools-client: $(B)/obj/tests/tools/client.cpp.o $(B)/lib/libptsched.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $< -L$(B)/lib -lptsched -Wl,-rpath,'$$ORIGIN/../lib'

# Never with a sanitizer, which cannot be preloaded.
$(B)/tests/tools-empty.so: tests/tools/empty.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -o $@ $<

# Programs of others, with the sanitizer as gcc links it: in a library.
$(B)/tests/tools-asan: tests/tools/asan.c
	@mkdir -p $(@D)
	gcc -fsanitize=address -o $@ $<

$(B)/tests/tools-asan-own: tests/tools/asan.c
	@mkdir -p $(@D)
	gcc -fsanitize=address -DOWN_OPTIONS -o $@ $<

# The harness finds programs and libraries from where it lies.
$(B)/tests/tools: $(TOOLS_TEST_PY) uapi/linux/ptsched.h $(B)/tests/tools-client $(B)/tests/tools-empty.so $(B)/bin/ptsched \
		$(B)/tests/tools-asan $(B)/tests/tools-asan-own $(B)/tests/jumping_clock.so \
		$(B)/bin/ptschedd $(B)/lib/libptsched-preload.so
	@mkdir -p $(@D)
	install -m 644 $(filter-out %/tools.py,$(TOOLS_TEST_PY)) uapi/linux/ptsched.h $(B)/tests/
	install -m 755 tests/tools/tools.py $@
