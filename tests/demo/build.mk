# SPDX-License-Identifier: MIT
TESTS += tests/demo/report_test
TESTS_NOSAN += tests/demo/report_test

# What the experiment needs in the VM beside what the tests bring; busybox has no nice.
VM_FILES += $(B)/lib/libptsched-preload.so:/usr/lib/ /usr/bin/nice:/usr/bin/
