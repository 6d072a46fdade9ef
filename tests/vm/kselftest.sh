#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs inside the test VM: each program named as an argument, with the module inserted
# where the one before has removed it, and prints their KTAP. The modules are in
# /vm/modules.

module=/vm/modules/ptsched.ko
# There is one if the module counts what it executes.
counter=/vm/modules/ptsched_coverage.ko

# What a program has left that was ended from outside, so that the next one does not find it.
clean_up() {
	# shellcheck disable=SC2046 # a number for each
	kill -9 $(ps -o pid,sid | awk -v session="$(cat /tmp/session)" '$2 == session { print $1 }') 2>/dev/null
	# Until the last of its processes has let go.
	tries=10
	until [ $tries = 0 ]; do
		rmmod vgpu 2>/dev/null
		rmmod ptsched 2>/dev/null
		grep -q '^ptsched ' /proc/modules || break
		sleep 1
		tries=$((tries - 1))
	done
}

# A program that ends badly without a "not ok" would otherwise count as silence.
run() {
	echo "# $1"
	echo "$1" >/dev/kmsg
	# shellcheck disable=SC3040 # busybox has it
	set -o pipefail
	# shellcheck disable=SC2016 # the inner shell's
	setsid sh -c 'echo $$ >/tmp/session; exec timeout "$1" "$2"' sh "${PTSCHED_TEST_TIMEOUT:-1200}" "$1" 2>&1 |
		tee /tmp/output
	status=$?
	case $status in
	0) ;;
	124 | 143)
		echo "not ok 9999 - $1 did not end in time"
		clean_up
		;;
	*) grep -q '^not ok' /tmp/output || echo "not ok 9999 - $1 exited with $status" ;;
	esac
}

# The test devices alone; pci and pci.sh bring the others back for a while.
for class in /sys/bus/pci/devices/*/class; do
	case $(cat "$class" 2>/dev/null) in 0x03*) echo 1 >"${class%class}remove" ;; esac
done

failed=0
insert() {
	grep -q '^ptsched ' /proc/modules && return
	insmod $module test_devices=2 && return
	echo "not ok 9999 - insmod $module"
	failed=1
	return 1
}

[ ! -e $counter ] || insmod $counter || exit
for program in "$@"; do
	insert && run "$program"
done

# Whatever the programs left loaded must go again.
echo "1..1"
while read -r name _; do
	[ "$name" != ptsched_coverage ] || cp /sys/kernel/debug/ptsched_coverage /out/counts
	rmmod "$name" || failed=1
done </proc/modules
if [ $failed = 0 ] && [ ! -s /proc/modules ]; then
	echo "ok 1 - every module was removed"
else
	cat /proc/modules
	echo "not ok 1 - every module was removed"
fi
