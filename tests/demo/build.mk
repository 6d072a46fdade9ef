# SPDX-License-Identifier: MIT
# What the experiment needs in the VM beside what the tests bring; busybox has no nice.
VM_FILES += $(B)/lib/libptsched-preload.so:/usr/lib/ /usr/bin/nice:/usr/bin/
