# SPDX-License-Identifier: MIT
# Shared by the shell scripts of this folder; to be sourced, not run.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Downloads, unpacked kernels and the debug kernel. Safe to delete at any time.
cache=${PTSCHED_CACHE:-$top/.cache}
kernel_series=6.1

die() {
	echo "${0##*/}: error: $*" >&2
	exit 1
}

say() {
	echo "${0##*/}: $*" >&2
}

# package_version NAME: the installed version, or nothing.
package_version() {
	# shellcheck disable=SC2016 # dpkg-query's own placeholders
	dpkg-query -W -f='${db:Status-Abbrev} ${Version}' "$1" 2>/dev/null |
		sed -n 's/^ii  *//p'
}

# kernel_release FLAVOUR: the newest installed headers of cloud, amd64 or rt.
kernel_release() {
	local suffix=amd64 dir
	[[ $1 == amd64 ]] || suffix=$1-amd64
	for dir in /usr/src/linux-headers-"$kernel_series".*-"$suffix"; do
		[[ -d $dir ]] || continue
		dir=${dir##*/linux-headers-}
		# "amd64" alone must not match cloud-amd64.
		[[ ${dir#"$kernel_series".*-*-} != "$suffix" ]] || echo "$dir"
	done | sort -V | tail -n 1
}

# unpack_source NAME MEMBER...: unpacks Debian's kernel source, or only those members
# of it, once into the cache, and prints where.
unpack_source() {
	local name=$1 version tree tarball=/usr/src/linux-source-$kernel_series.tar.xz
	shift
	version=$(package_version "linux-source-$kernel_series")
	[[ -n $version && -r $tarball ]] ||
		die "package linux-source-$kernel_series is not installed; run scripts/setup"
	tree=$cache/$name-$version
	mkdir -p "$cache"
	(
		flock 9
		[[ -e $tree/.unpacked && $(<"$tree/.unpacked") == "$*" ]] && exit 0
		say "unpacking ${*:-all} of $tarball"
		rm -rf "$tree" "$tree.part"
		mkdir -p "$tree.part"
		tar -C "$tree.part" --strip-components=1 -xf "$tarball" \
			"${@/#/linux-source-$kernel_series/}"
		echo "$*" >"$tree.part/.unpacked"
		mv "$tree.part" "$tree"
	) 9>"$cache/$name.lock" || return
	echo "$tree"
}

# The whole source, 1.5 GB, to build a kernel from.
source_tree() {
	unpack_source linux-source
}

# The few files of it that style and tests use.
kernel_tools() {
	unpack_source linux-tools scripts/checkpatch.pl scripts/kernel-doc scripts/spelling.txt \
		scripts/const_structs.checkpatch tools/testing/selftests/kselftest.h \
		tools/testing/selftests/kselftest_harness.h tools/testing/selftests/lib.mk
}

# closing_line FILE: the sum of what scripts/run-tests --tally has added there; fails if
# a test has failed or none has passed.
closing_line() {
	awk '{ passed += $1; failed += $2; skipped += $3 }
		END {
			printf "%d passed, %d failed", passed, failed
			if (skipped) printf ", %d skipped", skipped
			printf "\n"
			exit failed != 0 || passed == 0
		}' "$1"
}
