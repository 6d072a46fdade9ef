#!/bin/sh
# SPDX-License-Identifier: MIT
# The priority inversion experiment and the nice sweep, inside the test VM. Leaves one
# JSON file for each run in /out; scripts/demo-report reads them.
#
# usage: inversion.sh SCALE SECONDS SWEEP_SECONDS [DEVICE]...
# DEVICE: preemptible, timesliced or nonpreemptive, else all three.
# Every time of the experiment (kernels and slices on the device, thinking, settings) is SCALE
# times what its name says, because the emulated processor is slow. It runs for so many SECONDS
# of the VM's clock, a pair of equal programs for SWEEP_SECONDS or more.
set -u
scale=$1
seconds=$2
sweep_seconds=$3
shift 3
[ $# -gt 0 ] || set -- preemptible nonpreemptive timesliced
modules=/vm/modules
hog_us=19000
important_us=1000
# Where kernels are taken off, the important program has so many of them before it computes as long.
burst=10
# What it takes there to take all 20 channels of a program off, and to put them back: H200, stock driver.
measured_switch_us=680,430
# Two of them may be in flight, so that the device does not wait for the processor.
equal_us=2000
equal_inflight_us=4500
inflight_us=2000
warm_up=3
export PTSCHED_LINGER_US=$((150 * scale))
# As in the paper, what is on the device drains, but where the experiment is about taking it off.
export PTSCHED_LEVEL=gate
step=0
pids=

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

# begin NAME: of a run, of which nothing is there yet.
begin() {
	name=$1
	step=$((step + 1))
	say "[$step] $name"
	vgpu-stat --reset
}

# start OUTPUT NICE WRAP PROGRAM...: in the background, with or without ptsched; its pid in $last.
start() {
	output=$1
	nice_value=$2
	wrap=$3
	shift 3
	if [ "$wrap" = yes ]; then
		ptsched run --nice "$nice_value" -- "$@" >"$output" &
	else
		nice -n "$nice_value" "$@" >"$output" &
	fi
	last=$!
	pids="$pids $last"
}

# start_hogs WRAP HOGS: so many, until they run.
start_hogs() {
	i=0
	while [ $i -lt "$2" ]; do
		start /dev/null 19 "$1" inversion-client --kernel-us "$hog_us" --depth 2 --seconds 86400
		i=$((i + 1))
	done
	[ "$2" = 0 ] || wait_for_owners "$2"
}

# start_important WRAP ARGUMENTS...: its first seconds do not count: there, it waits for what the hogs
# had in flight when it came.
start_important() {
	wrap=$1
	shift
	start "/out/$name.json" -20 "$wrap" inversion-client --kernel-us "$important_us" --warm-up $warm_up --json "$@"
	important=$last
}

stop_all() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait
	pids=
}

# inversion NAME WRAP HOGS: the important program beside so many hogs.
inversion() {
	begin "$1"
	start_hogs "$2" "$3"
	vgpu-stat --reset
	start_important "$2" --think-us $((important_us * scale)) --seconds "$seconds"
	wait "$important" || die "$name: the important program failed"
	vgpu-stat --json >"/out/$name.gpu.json"
	stop_all
}

# What the device does in the experiment's time, once the first seconds are over.
measure() {
	sleep $warm_up
	vgpu-stat --reset
	sleep "$seconds"
	vgpu-stat --json >"/out/$name.gpu.json"
}

# hog_alone NAME: without anybody else, and without ptsched.
hog_alone() {
	begin "$1"
	start_hogs no 1
	measure
	stop_all
}

# side_by_side NAME WRAP HOGS: the important program, in bursts, and the hogs' own speed. It counts
# whole bursts, since a cut one would be some percent, and does so for longer than the device is looked at.
side_by_side() {
	cycle_us=$((2 * burst * important_us * scale))
	begin "$1"
	start_hogs "$2" "$3"
	start_important "$2" --burst $burst --think-us $((cycle_us / 2)) --seconds 600 \
		--count $((burst * ((seconds + 2) * 1000000 / cycle_us)))
	wait_for_owners $(($3 + 1))
	measure
	[ "$2" = no ] || ptsched stat --json >"/out/$name.stat.json"
	wait "$important" || die "$name: the important program failed"
	echo "{\"important\": $important}" >"/out/$name.pids.json"
	stop_all
}

# sweep SHARING NICE SECONDS: two programs that always have work, at nice 0 and NICE. Counted
# from one end of the second one's turn to another, since cut turns would be some percent, and
# not from the start: the first one still has what it saved up before the second one came.
sweep() {
	begin "$mode-share-$1-$2"
	start /dev/null 0 yes inversion-client --kernel-us "$equal_us" --depth 4 --seconds 86400
	first=$last
	start /dev/null "$2" yes inversion-client --kernel-us "$equal_us" --depth 4 --seconds 86400
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

sweeps() {
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
}

# All policies at the level gate.
policies() {
	for hogs in 0 1 2; do
		inversion "$mode-stock-$hogs" no $hogs
	done
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
	sweeps
}

# What taking kernels off adds to that.
levels() {
	hog_alone "$mode-hog"
	for hogs in 0 1 2; do
		side_by_side "$mode-stock-$hogs" no $hogs
	done
	for hogs in 1 2; do
		settings weighted off off 2000
		side_by_side "$mode-gate-off-$hogs" yes $hogs
		settings weighted off on 2000
		side_by_side "$mode-gate-on-$hogs" yes $hogs
		PTSCHED_LEVEL=preempt
		side_by_side "$mode-preempt-on-$hogs" yes $hogs
		PTSCHED_LEVEL=gate
	done
}

insmod $modules/ptsched.ko test_devices=1 slice_us=$((30000 * scale)) grace_us=$((2000 * scale)) \
	drain_us=$((100000 * scale)) inflight_us=$((inflight_us * scale)) || die "insmod ptsched.ko"

for mode; do
	case $mode in
	preemptible) device=timesliced switch_us=$measured_switch_us experiment=levels ;;
	timesliced | nonpreemptive) device=$mode switch_us=0,0 experiment=policies ;;
	*) die "no device $mode" ;;
	esac
	insmod $modules/vgpu.ko mode="$device" scale="$scale" switch_us="$switch_us" || die "insmod vgpu.ko"
	$experiment
	rmmod vgpu || die "rmmod vgpu"
done
rmmod ptsched || die "rmmod ptsched"
say "done"
