#!/bin/sh
# SPDX-License-Identifier: MIT
# What the module's KUnit tests (kmod/kunit.c), which ran when it was inserted, have found. It is taken from the kernel's
# log: of a suite that says much, debugfs has the beginning only.

if ! dmesg | grep -q '# Subtest: ptsched'; then
	echo "1..0 # SKIP this kernel has no KUnit, or the module was built without its tests"
	exit 0
fi
dmesg | sed 's/^\[ *[0-9.]*\] //' | sed -n '/# Subtest: ptsched/,/^\(not \)\?ok/s/^    //p'
