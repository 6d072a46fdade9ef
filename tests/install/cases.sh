# SPDX-License-Identifier: MIT
# What the tests of "make install" share: a folder to install into, and cases. To be sourced, with the tree's root as
# the working directory.
# shellcheck shell=bash

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
count=0

# check NAME COMMAND...
check() {
	local name=$1
	shift
	count=$((count + 1))
	if "$@" >"$root/log" 2>&1; then
		echo "ok $count - $name"
	else
		sed 's/^/# /' "$root/log"
		echo "not ok $count - $name"
	fi
}

run_make() {
	make -s DESTDIR="$root/image" prefix=/usr "$@"
}
