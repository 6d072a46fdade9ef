# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For scripts in the test VM that print TAP: sourced, it gives them a folder $work, check(), and in $failed the status to
# exit with. The scripts print their plan and remove $work.

count=0
failed=0
work=$(mktemp -d)

# check NAME COMMAND...: what the command printed, and the *.err files in $work, are shown only if it fails.
check() {
	name=$1
	shift
	count=$((count + 1))
	if "$@" >"$work/log" 2>&1; then
		echo "ok $count - $name"
	else
		sed 's/^/# /' "$work/log" | tail -n 40
		sed 's/^/# /' "$work"/*.err 2>/dev/null | tail -n 40
		echo "not ok $count - $name"
		# shellcheck disable=SC2034 # for the script
		failed=1
	fi
}
