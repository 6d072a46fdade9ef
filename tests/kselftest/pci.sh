#!/bin/sh
# SPDX-License-Identifier: MIT
# GPUs that the module finds on the PCI bus by itself: what is there when it is inserted,
# what comes later and what goes. Runs in the test VM; the machine's display controllers are
# absent (removed) before and after.
# shellcheck disable=SC2317 # the functions are called by check

# shellcheck source=tests/vm/tap.sh
. /vm/tests/tap.sh

echo "TAP version 13"
if [ ! -e /sys/bus/pci/rescan ]; then
	echo "1..0 # SKIP no PCI in this machine"
	exit 0
fi
echo "1..6"

# Addresses of the display controllers, by the kernel and by the module.
present() {
	for folder in /sys/bus/pci/devices/*; do
		case $(cat "$folder/class") in 0x03*) basename "$folder" ;; esac
	done
}

known() {
	ptsched stat --json | sed -n 's/.*"pci": "\([^"]*\)".*/\1/p' | grep -v '^ffff:'
}

unplug() { echo 1 >"/sys/bus/pci/devices/$1/remove"; }

agree() {
	echo "present: $(present); known: $(known)"
	[ "$(present | sort)" = "$(known | sort)" ] && [ "$(present | wc -l)" = "$1" ]
}

# The last device that is neither a display controller nor a bridge.
other() {
	for folder in /sys/bus/pci/devices/*; do
		case $(cat "$folder/class") in 0x03* | 0x06*) ;; *) basename "$folder" ;; esac
	done | tail -n 1
}
another_goes() {
	before=$(known)
	gone=$(other)
	[ "$gone" ] && unplug "$gone" && [ "$(known)" = "$before" ] && echo 1 >/sys/bus/pci/rescan &&
		[ -e "/sys/bus/pci/devices/$gone" ] && agree 2
}

come() { echo 1 >/sys/bus/pci/rescan && agree 2; }
one_goes() { unplug "$(present | head -n 1)" && agree 1; }
both_go() { one_goes; unplug "$(present)" && agree 0; }
insert_again() {
	rmmod ptsched && echo 1 >/sys/bus/pci/rescan && insmod /vm/modules/ptsched.ko test_devices=2 && agree 2
}

check "the machine has none at first" agree 0
check "GPUs that come are found" come
check "what is no GPU goes and comes, and no GPU with it" another_goes
check "a GPU that goes is forgotten" one_goes
check "GPUs are found at insertion" insert_again
check "all go" both_go
rm -rf "$work"
exit $failed
