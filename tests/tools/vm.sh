#!/bin/sh
# SPDX-License-Identifier: MIT
# In the test VM: the tool ptsched against the module. What does not depend on the kind of
# scheduler is tested against the broker on the host (tools.py).
# shellcheck disable=SC2317 # the functions are called by check

# shellcheck source=tests/vm/tap.sh
. /vm/tests/tap.sh

echo "TAP version 13"
echo "1..15"

# refused STATUS WORD COMMAND...: the command fails with that status and says the word.
refused() {
	want=$1
	word=$2
	shift 2
	"$@" >"$work/refusal" 2>&1
	status=$?
	cat "$work/refusal"
	echo "status $status, expected $want; expected to read: $word"
	[ "$status" = "$want" ] && grep -q -- "$word" "$work/refusal"
}

# shows WORD COMMAND...: the command succeeds and its output has the word.
shows() {
	word=$1
	shift
	"$@" >"$work/shown" 2>&1
	status=$?
	cat "$work/shown"
	echo "status $status; expected to read: $word"
	[ "$status" = 0 ] && grep -q -- "$word" "$work/shown"
}

# One line to the client and its answer.
tell() {
	echo "$1" >&8
	read -r answer <&9
	echo "$1: $answer"
	[ "$answer" = ok ]
}

settings_of_both() {
	ptsched set slice=3ms policy=literal grouping=user alpha=0.5 idle-sharing=off || return
	ptsched stat >"$work/stat" || return
	cat "$work/stat"
	[ "$(grep -c 'policy=literal grouping=user idle-sharing=off many=off slice=3ms .*alpha=0.5' "$work/stat")" = 2 ]
}

settings_of_one() {
	ptsched set --device 1 policy=weighted slice=7ms || return
	shows "policy=literal .*slice=3ms" ptsched stat --device 0 &&
		shows "policy=weighted .*slice=7ms" ptsched stat --device 1
}

# Where the kernel has no controller of the CPU, there is no weight to take over.
weight_of_cgroup() {
	root=/sys/fs/cgroup
	mkdir "$root/tools" "$root/tools/inner" || return
	ptsched set grouping=cgroup && ptsched set --cgroup /tools/inner weight=300 &&
		shows ' /tools/inner  *300  *0 ' ptsched stat --accounts || return
	if grep -qw cpu "$root/cgroup.controllers"; then
		echo +cpu >"$root/cgroup.subtree_control"
		echo 250 >"$root/tools/cpu.weight"
		ptsched set --device 1 --cgroup "$root/tools" weight=auto &&
			shows '^ *1  /tools  *250 ' ptsched stat --accounts || return
	fi
	shows '"grouping": "cgroup"' ptsched stat --json || return
	rmdir "$root/tools/inner" "$root/tools" && ptsched set grouping=process
}

weight_of_client() {
	ptsched set --pid "$client" weight=4711 || return
	shows '"weight": 4711' ptsched stat --json &&
		shows '"weight_set": true' ptsched stat --json || return
	ptsched set --pid "$client" weight=auto && shows '"weight": 1024' ptsched stat --json
}

# Reads events up to one that has the word.
until_event() {
	while read -r line <&7; do
		echo "$line"
		case $line in *"$1"*"\"pid\":$client,"*) return 0 ;; esac
	done
	return 1
}

events_in_order() {
	tell acquire && tell "release 1000 1" || return
	until_event '"event":"grant"' && until_event '"event":"release"' || return
	echo close >&8
	read -r _ <&9
	until_event '"event":"exit"'
}

# The names of slices and processes stand in the trace as they are.
record_has_a_turn() {
	ptsched record -o "$work/trace" -- sh -c "
		printf 'open $device\nacquire\nrelease 1000 1\n' | tools-client; exit 3"
	status=$?
	echo "status $status, expected 3"
	[ "$status" = 3 ] && grep -q turn "$work/trace" && grep -q 'tools-client [1-9]' "$work/trace"
}

# More events than a socket holds while nobody reads it.
record_tells_of_a_loss() {
	rm -f "$work/trace"
	ptsched record -o "$work/trace" &
	record=$!
	until [ -s "$work/trace" ]; do sleep 0.1; done
	kill -STOP "$record"
	{
		echo "open $device"
		yes "acquire
release 0 0" | head -n 6000
	} | tools-client | sort | uniq -c
	kill -CONT "$record"
	until grep -q 'events lost' "$work/trace"; do sleep 0.1; done
	kill -TERM "$record"
	wait "$record"
}

grep -q '^ptsched ' /proc/modules && rmmod ptsched
insmod /vm/modules/ptsched.ko test_devices=2 || exit

check "stat --json speaks to the module" shows '"kind": "module"' ptsched stat --json
check "stat shows the device" shows 'device 1: ' ptsched stat --device 1
check "set changes every device" settings_of_both
check "set --device changes one" settings_of_one
check "set --cgroup gives a share, and takes over that of the CPU" weight_of_cgroup
check "a refusal carries the kernel's words" refused 1 "refused by the scheduler: .*pid" \
	ptsched set --pid 1 weight=5

mkfifo "$work/in" "$work/out" "$work/events"
tools-client <"$work/in" >"$work/out" &
client=$!
exec 8>"$work/in" 9<"$work/out"
ptsched events --json >"$work/events" &
events=$!
exec 7<"$work/events"
read -r line <&7

device=$(ptsched stat --json | sed -n 's/.*"pci": "\(.*\)".*/\1/p' | head -n 1)
check "a client attaches to $device" tell "open $device"
check "events tells of it" until_event '"event":"attach"'
check "stat shows it" shows "\"pid\": $client" ptsched stat --json
check "set --pid changes its weight, auto gives it back" weight_of_client
check "events tells of grant, release and exit" events_in_order
check "top --once has a row for each device" shows 'device 1 ' ptsched top --once --interval 10ms
check "record has the turn of a program" record_has_a_turn
doctor_sees_module() {
	ptsched doctor >"$work/doctor"
	cat "$work/doctor"
	grep -q '^ok .*module netlink' "$work/doctor" && grep -q '^ok .*module version' "$work/doctor"
}
check "doctor sees the module and its version" doctor_sees_module

exec 8>&- 9<&-
kill $events
wait
exec 7<&-
# With nobody beside it who would have to read as much.
check "record tells where events were lost" record_tells_of_a_loss
rm -r "$work"
exit $failed
