#!/bin/sh
# SPDX-License-Identifier: MIT
# Loading and unloading, and the module's parameters. Runs in the test VM, where the
# module is loaded with two test devices, and leaves it so.

module=/vm/modules/ptsched.ko
parameters=/sys/module/ptsched/parameters
count=0
failed=0

ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
	fi
}

# refuse PARAMETER VALUE: it stays what it was, and the log says what would be right.
refuse() {
	before=$(cat $parameters/"$1")
	dmesg -c >/dev/null
	! { echo "$2" >$parameters/"$1"; } 2>/dev/null &&
		[ "$(cat $parameters/"$1")" = "$before" ] &&
		dmesg | grep -q "ptsched: $1: .* expected"
	ok $? "$1 refuses '$2' and says what would be right"
}

# accept PARAMETER VALUE
accept() {
	before=$(cat $parameters/"$1")
	echo "$2" >$parameters/"$1" && [ "$(cat $parameters/"$1")" = "$2" ]
	ok $? "$1 takes $2"
	echo "$before" >$parameters/"$1"
}

accept policy weighted
accept policy literal
accept policy none
refuse policy fair
refuse policy ''
accept grouping process
accept grouping user
accept grouping cgroup
refuse grouping group
for switch in idle_sharing many; do
	accept $switch 0
	accept $switch 1
	refuse $switch 2
	refuse $switch -1
	refuse $switch yes
done
accept slice_us 100
accept slice_us 1000000
refuse slice_us 99
refuse slice_us 1000001
accept grace_us 0
accept grace_us 1000000
refuse grace_us 1000001
accept drain_us 1000
accept drain_us 10000000
refuse drain_us 999
refuse drain_us 10000001
accept inflight_us 10
accept inflight_us 1000000
refuse inflight_us 9
refuse inflight_us 1000001
refuse inflight_us 18446744073709551617
accept alpha 1
accept alpha 1000
refuse alpha 0
refuse alpha 1001

hold=$parameters/longest_hold_ns
[ "$(cat $hold)" = 0 ]
ok $? "how long a device is locked is not measured at first"
echo 0 >$hold && /vm/tests/pair >/dev/null && [ "$(cat $hold)" -gt 0 ]
ok $? "once it is asked for, that is measured"

[ "$(stat -c %a /dev/ptsched)" = 666 ]
ok $? "everybody may open the node"

exec 5</dev/ptsched
! rmmod ptsched 2>/dev/null && [ -e /dev/ptsched ]
ok $? "the module is not removed while a client is open"
exec 5<&-

rmmod ptsched && [ ! -e /dev/ptsched ] && [ ! -e /sys/module/ptsched ]
ok $? "the module is removed when the last client is closed"

status=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
	insmod $module test_devices=16 && /vm/tests/pair >/dev/null && rmmod ptsched || status=1
done
ok $status "ten times inserted, used and removed"

dmesg -c >/dev/null
! insmod $module test_devices=17 2>/dev/null && dmesg | grep -q "test_devices: a number from 0 to 16"
ok $? "more than 16 test devices are refused"
! insmod $module policy=fair 2>/dev/null && dmesg | grep -q "policy: weighted, literal or none"
ok $? "an unknown policy is refused"

insmod $module policy=literal slice_us=777 test_devices=2 &&
	[ "$(cat $parameters/policy $parameters/slice_us | tr '\n' ' ')" = "literal 777 " ]
ok $? "parameters at insertion are taken"
rmmod ptsched

# Objects that were not freed: the kernel would have complained of them at removal.
! dmesg | grep -E 'Objects remaining|still has objects'
ok $? "nothing is left of the removed modules"

insmod $module test_devices=2
ok $? "inserted again"
echo "1..$count"
exit $failed
