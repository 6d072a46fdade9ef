#!/bin/sh
# SPDX-License-Identifier: MIT
# The priority inversion experiment and the nice sweep, inside the test VM. Leaves one
# JSON file for each run in /out; scripts/demo-report reads them.
#
# usage: inversion.sh SCALE SECONDS SWEEP_SECONDS
# Every time of the experiment (kernels and slices on the device, thinking, settings) is SCALE
# times what its name says, because the emulated processor is slow. It runs for so many SECONDS
# of the VM's clock, a pair of equal programs for SWEEP_SECONDS or more.
set -u
scale=$1
seconds=$2
sweep_seconds=$3
modules=/vm/modules
hog_us=19000
important_us=1000
# Two of them may be in flight, so that the device does not wait for the processor.
equal_us=2000
equal_inflight_us=4500
inflight_us=2000
export PTSCHED_LINGER_US=$((150 * scale))
# As in the paper: what is on the device drains.
export PTSCHED_LEVEL=gate
step=0

say() { echo "demo: $*"; }

die() {
	say "error: $*"
	dmesg | tail -n 20
	exit 1
}

inflight() {
	ptsched set "inflight=$(($1 * scale))us" >/dev/null || die "ptsched set inflight"
}

# settings POLICY MANY IDLE_SHARING GRACE_US
settings() {
	ptsched set "policy=$1" "many=$2" "idle-sharing=$3" "grace=$(($4 * scale))us" >/dev/null ||
		die "ptsched set $*"
}

# Waits until so many processes have had work done by the virtual GPU.
wait_for_owners() {
	until [ "$(vgpu-stat --owners)" -ge "$1" ]; do
		kill -0 "$last" 2>/dev/null || die "a program ended early"
		usleep 20000
	done
}

# start NICE WRAP PROGRAM...: in the background, with or without ptsched.
start() {
	nice_value=$1
	wrap=$2
	shift 2
	if [ "$wrap" = yes ]; then
		ptsched run --nice "$nice_value" -- "$@" >/dev/null &
	else
		nice -n "$nice_value" "$@" >/dev/null &
	fi
	last=$!
	pids="$pids $last"
}

stop_all() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait
	pids=
}

# inversion NAME WRAP HOGS: the important program beside so many hogs. Its first seconds do not
# count: there, it waits for what the hogs had in flight when it came.
inversion() {
	name=$1
	wrap=$2
	hogs=$3
	step=$((step + 1))
	say "[$step] $name"
	pids=
	vgpu-stat --reset
	i=0
	while [ $i -lt "$hogs" ]; do
		start 19 "$wrap" inversion-client --kernel-us "$hog_us" --depth 2 --seconds 86400
		i=$((i + 1))
	done
	[ "$hogs" = 0 ] || wait_for_owners "$hogs"
	vgpu-stat --reset
	set -- inversion-client --kernel-us "$important_us" --think-us $((important_us * scale)) \
		--warm-up 3 --seconds "$seconds" --json
	if [ "$wrap" = yes ]; then
		ptsched run --nice -20 -- "$@" >"/out/$name.json" || die "$name: the important program failed"
	else
		nice -n -20 "$@" >"/out/$name.json" || die "$name: the important program failed"
	fi
	vgpu-stat --json >"/out/$name.gpu.json"
	stop_all
}

# sweep SHARING NICE SECONDS: two programs that always have work, at nice 0 and NICE. Counted
# from one end of the second one's turn to another, since cut turns would be some percent, and
# not from the start: the first one still has what it saved up before the second one came.
sweep() {
	name=$mode-share-$1-$2
	step=$((step + 1))
	say "[$step] $name"
	pids=
	vgpu-stat --reset
	start 0 yes inversion-client --kernel-us "$equal_us" --depth 4 --seconds 86400
	first=$last
	start "$2" yes inversion-client --kernel-us "$equal_us" --depth 4 --seconds 86400
	wait_for_owners 2
	sleep 5
	vgpu-stat --turn-end "$last" --reset || die "$name: the second program"
	sleep "$3"
	vgpu-stat --turn-end "$last" --json >"/out/$name.gpu.json" ||
		die "$name: the second program"
	ptsched stat --json >"/out/$name.stat.json"
	echo "{\"first\": $first, \"second\": $last}" >"/out/$name.json"
	stop_all
}

insmod $modules/ptsched.ko test_devices=1 slice_us=$((30000 * scale)) grace_us=$((2000 * scale)) \
	drain_us=$((100000 * scale)) inflight_us=$((inflight_us * scale)) || die "insmod ptsched.ko"

for mode in nonpreemptive timesliced; do
	insmod $modules/vgpu.ko mode=$mode scale="$scale" || die "insmod vgpu.ko"
	inversion "$mode-stock-0" no 0
	inversion "$mode-stock-1" no 1
	inversion "$mode-stock-2" no 2
	settings weighted off on 2000
	inversion "$mode-weighted-on-0" yes 0
	for hogs in 1 2; do
		settings none off off 2000
		inversion "$mode-none-off-$hogs" yes "$hogs"
		settings literal on off 2000
		inversion "$mode-literal-off-$hogs" yes "$hogs"
		settings weighted off off 2000
		inversion "$mode-weighted-off-$hogs" yes "$hogs"
		settings weighted off on 2000
		inversion "$mode-weighted-on-$hogs" yes "$hogs"
		settings weighted off on 0
		inversion "$mode-weighted-nograce-$hogs" yes "$hogs"
	done
	inflight $equal_inflight_us
	for sharing in off on; do
		settings weighted off $sharing 2000
		# The lighter program's turns are few: enough of them for its share to show.
		sweep $sharing 0 "$sweep_seconds"
		sweep $sharing 1 "$sweep_seconds"
		sweep $sharing 2 "$sweep_seconds"
		sweep $sharing 5 $((2 * sweep_seconds))
		sweep $sharing 10 $((5 * sweep_seconds))
	done
	inflight $inflight_us
	rmmod vgpu || die "rmmod vgpu"
done
rmmod ptsched || die "rmmod ptsched"
say "done"
