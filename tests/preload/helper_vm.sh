#!/bin/sh
# SPDX-License-Identifier: MIT
# In the test VM: ptschedd beside the module takes a program off the virtual GPU that cannot do so itself, since it is
# stopped; and neither its death nor the helper's leaves anything off or behind.
# shellcheck disable=SC2317 # the functions are called by check

# shellcheck source=tests/vm/tap.sh
. /vm/tests/tap.sh
pids=
important_kernel_us=1000

echo "TAP version 13"
echo "1..18"

# try DEADLINE COMMAND...
try() {
	shift
	"$@"
}

# A minute, and more on a machine that is so slow that the hog's kernels last for long: see choose_hog_kernel.
patience_s=60

# in_time COMMAND...: tries until it succeeds.
in_time() {
	# Some of the commands wait in the same way.
	set -- "$(($(date +%s) + patience_s))" "$@"
	until try "$@"; do
		[ "$(date +%s)" -lt "$1" ] || { echo "in vain: $*"; vgpu-stat; ptsched stat; return 1; }
		usleep 50000
	done
}

# Of a process on the virtual GPU: what is in a column of vgpu-stat, without the point.
column() { vgpu-stat | awk -v pid="$1" -v column="$2" '$1 == pid { gsub(/\./, "", $column); print $column; found = 1 }
	END { if (!found) print 0 }'; }
gpu_us() { column "$1" 3; }
items() { column "$1" 6; }
has_items() { [ "$(items "$1")" -ge "$2" ]; }

# start NAME NICE ARGUMENTS...: in the background; its pid in $last.
start() {
	label=$1
	nice_value=$2
	shift 2
	# Now: the background may come to it after somebody has looked for what the last one said.
	: >"$work/$label.err"
	PTSCHED_LOG=debug ptsched run --nice "$nice_value" -- inversion-client --seconds 600 "$@" \
		>"$work/$label.out" 2>"$work/$label.err" &
	last=$!
	pids="$pids $last"
}

start_hog() {
	start hog 19 --kernel-us $hog_kernel_us --depth 2
	hog=$last
}

start_important() {
	start important -20 --kernel-us $important_kernel_us "$@"
	important=$last
}

uptime_cs() { awk '{ print int($1 * 100) }' /proc/uptime; }

# A kernel of the hog lasts far longer than what the important program does meanwhile, however slow the machine is.
choose_hog_kernel() {
	before=$(uptime_cs)
	start_important
	in_time has_items "$important" 100
	hog_kernel_us=$((4 * 10000 * ($(uptime_cs) - before)))
	finish "$important"
	[ "$hog_kernel_us" -ge 3000000 ] || hog_kernel_us=3000000
	# What is found out about the hog takes some of its kernels.
	patience_s=$((60 + hog_kernel_us / 50000))
	echo "# a kernel of the hog lasts $hog_kernel_us us"
}

start_helper() {
	PTSCHED_LOG=debug ptschedd 2>"$work/helper.err" &
	helper=$!
	pids="$pids $helper"
	in_time grep -q "helping it" "$work/helper.err" && in_time grep -q "listening" "$work/helper.err"
}

# finish PID: it ends by itself, or at our wish, with its results right.
finish() {
	kill -TERM "$1" 2>/dev/null
	wait "$1"
}

# doctor_says WORDS [NAME=VALUE]
doctor_says() {
	words=$1
	shift
	env "$@" ptsched doctor | tee "$work/doctor" | grep -q "enforcement on .*$words" || { cat "$work/doctor"; false; }
}

level_found() { grep -q "level preempt, by ptschedd" "$work/hog.err"; }

# The hog gets on with its work while nobody else is there.
hog_runs() {
	before=$(gpu_us "$hog")
	in_time hog_got_further "$before"
}
hog_got_further() { [ "$(gpu_us "$hog")" -gt "$1" ]; }

# How far the hog is in its kernel.
part_us() { echo $(($(gpu_us "$hog") % hog_kernel_us)); }
has_begun() { [ "$(part_us)" -gt $((hog_kernel_us / 50)) ]; }

# Stopped where a kernel has begun and most of it is still to come.
stop_in_the_middle() {
	kill -STOP "$hog" || return
	has_begun && [ "$(part_us)" -lt $((hog_kernel_us / 2)) ] && return
	kill -CONT "$hog"
	false
}

# The important program does its work, and the hog gets nothing meanwhile.
stands_still() {
	before=$(gpu_us "$hog")
	in_time has_items "$important" $(($(items "$important") + 100)) || return
	after=$(gpu_us "$hog")
	echo "the hog's GPU time: $before us, then $after us"
	[ "$before" = "$after" ]
}

stop_and_await_taking_off() {
	hog_runs && in_time stop_in_the_middle || return
	start_important
	in_time grep -q "process $hog does nothing" "$work/helper.err" && in_time stands_still && has_begun
}

# Stopped in the middle of a kernel, where it stays from when the helper has seen that it does nothing. On a slow machine
# the kernel may have ended by then: that says nothing.
stopped_and_taken_off() {
	for try in 1 2 3 4 5; do
		stop_and_await_taking_off && return
		echo "try $try: the kernel has ended before"
		kill -CONT "$hog"
		finish "$important"
	done
	false
}

goes_on() {
	kill -CONT "$hog" || return
	finish "$important" && hog_runs
}

gone() { [ "$(vgpu-stat | awk -v pid="$1" '$1 == pid && !/ended/')" = "" ] && ! ptsched stat | grep -q "^ *0 *$1 "; }

# How many call-backs of the hog did not end in a share by force, though its kernels last far longer than a call-back may.
taken_off() { ptsched stat | awk -v pid="$hog" '$2 == pid { print $12 - $13 }'; }
taken_off_by_now() { [ "$(taken_off)" -ge "$1" ]; }

# How often the hog has a turn at all beside the important one depends on how fast the machine is.
off_by_itself() {
	finish "$important" && hog_runs && kill -STOP "$helper" || return
	before=$(taken_off)
	start_important
	in_time taken_off_by_now $((before + 5))
}

goes_on_with_helper_back() {
	kill -CONT "$helper" && finish "$important" && hog_runs
}

killed_while_off() {
	kill -KILL "$hog"
	wait "$hog"
	in_time gone "$hog" && finish "$important"
}

killed_helper() {
	kill -KILL "$helper"
	wait "$helper"
	kill -CONT "$hog" || return
	finish "$important" && hog_runs
}

# Its channels come and go while the others are off.
lives() {
	PTSCHED_TEST_KERNELS=/usr/bin/kernels.so preload-client lives >"$work/bare" || return
	start_important --think-us 3000
	in_time has_items "$important" 1 || return
	PTSCHED_TEST_KERNELS=/usr/bin/kernels.so PTSCHED_DRAIN_US=0 PTSCHED_LOG=debug PTSCHED_STATS=$work/lives.stats \
		timeout "$((2 * patience_s))" ptsched run --nice 19 -- preload-client lives >"$work/lives.out" 2>"$work/lives.err"
	echo "status $?, $(cat "$work/lives.stats")"
	finish "$important" && cmp "$work/bare" "$work/lives.out" && grep -q "by ptschedd" "$work/lives.err" &&
		! grep -q '"preemptions": 0' "$work/lives.stats"
}

grep -q '^ptsched ' /proc/modules && rmmod ptsched
insmod /vm/modules/ptsched.ko test_devices=1 && insmod /vm/modules/vgpu.ko || exit

choose_hog_kernel
check "doctor says that programs switch for themselves" doctor_says "preempt: .*, by the program's own thread"
check "beside the module, ptschedd helps" start_helper
check "doctor says that ptschedd does it" doctor_says "preempt: .*, by ptschedd"
check "doctor says why a program goes no further" doctor_says "gate: .*since PTSCHED_LEVEL" PTSCHED_LEVEL=gate
start_hog
start_important
check "a hog is found to be preemptible by ptschedd" in_time level_found
finish "$important"
check "stopped in the middle of a kernel, it is taken off" stopped_and_taken_off
check "it goes on when it is continued" goes_on
check "its results are right" finish "$hog"

start_hog
start_important
in_time level_found
finish "$important"
check "another one is taken off" stopped_and_taken_off
check "killed while it is off, it leaves nothing behind" killed_while_off

start_hog
start_important
in_time level_found
check "a helper that hangs is left: the hog takes itself off" off_by_itself
check "when it answers again, the hog goes on all the same" goes_on_with_helper_back
finish "$hog"

start_hog
start_important
in_time level_found
finish "$important"
check "a third one is taken off" stopped_and_taken_off
check "the helper is killed, and it goes on" killed_helper
finish "$hog"

start_helper
check "whose channels come and go meanwhile prints the same, and is taken off" lives

# Neither stopped nor able to do anything: like a program that waits in the driver for work that is off.
freeze() { echo "$1" >"$work/cgroup/hog/cgroup.freeze"; }
frozen_gets_on() {
	mkdir "$work/cgroup" && mount -t cgroup2 none "$work/cgroup" && mkdir "$work/cgroup/hog" || return
	echo "$hog" >"$work/cgroup/hog/cgroup.procs" && hog_runs && freeze 1 || return
	start_important
	in_time has_items "$important" 20 || return
	before=$(gpu_us "$hog")
	in_time hog_got_further "$before" && grep -q "process $hog does nothing" "$work/helper.err"
}
goes_on_unfrozen() {
	freeze 0 && finish "$important" && hog_runs
}

# What it has in flight outlasts the start of the important program.
hog_kernel_us=30000000
start_hog
start_important
in_time level_found
finish "$important"
check "one that can do nothing without being stopped gets on now and then" frozen_gets_on
check "it goes on when it can" goes_on_unfrozen
kill -KILL "$hog"
wait "$hog"
rmdir "$work/cgroup/hog" && umount "$work/cgroup"

for pid in $pids; do
	kill -KILL "$pid" 2>/dev/null
done
wait
rmmod vgpu || failed=1
insmod /vm/modules/vgpu.ko mode=nonpreemptive
check "doctor says what the driver does not do" doctor_says "gate: .*since the driver "
rmmod vgpu || failed=1
rmmod ptsched || failed=1
rm -r "$work"
exit $failed
