# SPDX-License-Identifier: MIT
# What "make check-stress" puts in front of the host tests. Never with a sanitizer, which cannot be preloaded.
$(B)/tests/jumping_clock.so: tests/stress/jumping_clock.c
	@mkdir -p $(@D)
	$(CC) $(WARNINGS) -std=gnu11 -O2 -shared -fPIC -o $@ $<
