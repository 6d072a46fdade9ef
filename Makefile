# SPDX-License-Identifier: MIT
# One make for the whole tree: every folder adds its targets in a build.mk.
#
# A build.mk may use $(B) (build directory), the pattern rules at the end of this
# file ($(B)/obj/PATH.cpp.o, $(B)/obj/PATH.c.o) and appends to these lists:
#   ALL          what plain "make" builds
#   TESTS        host test programs that print TAP, run by "make check"
#   TESTS_NOSAN  those of TESTS that cannot run under a sanitizer
#   VM_FILES     SOURCE:DESTINATION pairs, copied into the test VM; a source may be
#                a target of this make, a file or a folder
#   VM_TESTS     paths in the VM of the KTAP programs to run there, one after another,
#                with the module loaded (tests/vm/kselftest.sh)

VERSION := $(shell cat VERSION)
B       ?= build
# A comma-separated list for -fsanitize=; use another B with it.
SAN     ?=

prefix     ?= /usr/local
exec_prefix ?= $(prefix)
bindir     ?= $(exec_prefix)/bin
sbindir    ?= $(exec_prefix)/sbin
libdir     ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
mandir     ?= $(prefix)/share/man
docdir     ?= $(prefix)/share/doc/ptsched
udevdir    ?= /usr/lib/udev/rules.d
unitdir    ?= /usr/lib/systemd/system
srcdir     ?= /usr/src

# With a sanitizer, the other compiler: its warnings count too, and it compiles what that adds in half the time.
ifeq ($(origin CC),default)
CC := $(if $(SAN),clang,gcc)
endif
ifeq ($(origin CXX),default)
CXX := $(if $(SAN),clang++,g++)
endif
# Optimising what address and undefined add takes longer than the tests gain by it.
OPT      ?= $(if $(findstring thread,$(SAN)),-O1 -g1,$(if $(SAN),-O0 -g1,-O2 -g))
# What tests/abi reads the types of libraries from, where OPT has none. Where variables are would take most of its time.
DESCRIBED := $(if $(findstring -g,$(OPT)),,-g -fno-var-tracking)
WARNINGS := -Wall -Wextra $(if $(WERROR),-Werror)
# Clang sees which lock is to be held where (libptsched/include/ptsched/base/thread_safety.hpp).
LOCKS    := $(if $(findstring clang,$(CXX)),-Wthread-safety -Wthread-safety-beta)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
ifneq ($(SAN),)
ifneq ($(findstring clang,$(CXX)),)
# Interposers call functions by other types than theirs, drivers return numbers that have no name, and a program without
# a sanitizer, into which a library is preloaded, has not what tells classes apart.
SANFLAGS += -fno-sanitize=function,enum,vptr
# What the standard library and others do inside is theirs; checks of it would take a fifth of the compiler's time.
SANFLAGS += $(if $(findstring undefined,$(SAN)),-fsanitize-ignorelist=tests/undefined-elsewhere.txt)
else
# gcc takes what a sanitizer adds to a function for reads of what is not set.
WARNINGS += -Wno-maybe-uninitialized
endif
endif
# The interposer goes into containers that are older than this machine. What compilers and a distribution's flags add for
# hardening would take functions of newer C libraries, and of no other one.
PORTABLE := -U_FORTIFY_SOURCE -fno-stack-protector
# "override": a value given on make's command line comes on top of these.
override CPPFLAGS += -iquote . -Ilibptsched/include -Iuapi -D_GNU_SOURCE \
	-DPTSCHED_VERSION='"$(VERSION)"'
override CFLAGS   += -std=gnu11 $(OPT) $(WARNINGS) -fPIC -pthread $(SANFLAGS)
override CXXFLAGS += -std=c++20 $(OPT) $(WARNINGS) $(LOCKS) -fPIC -pthread $(SANFLAGS)
override LDFLAGS  += -pthread $(SANFLAGS)

include scripts/unity.mk

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
# An object that only a pattern rule names is still worth keeping.
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

include $(wildcard */build.mk */*/build.mk */*/*/build.mk)

ifneq ($(SAN),)
TESTS := $(filter-out $(TESTS_NOSAN),$(TESTS))
endif

##@ Building
.PHONY: all
all: $(ALL) ## libraries and tools (the default)

.PHONY: programs
programs: $(filter $(B)/bin/% $(B)/lib/% ptsched-skipped,$(ALL)) ## what "make install" installs, without samples and virtual GPU

.PHONY: vgpu
vgpu: $(VGPU_PROGRAMS) $(B)/vgpu/nvrtc.so ## the virtual GPU alone: runs CUDA programs where there is no GPU (tests/vgpu/README.rst)

.PHONY: setup
setup: ## install what building and testing need (Debian 12, as root)
	@scripts/setup

.PHONY: modules
modules: setup ## ptsched.ko and the test modules for Debian's cloud, amd64 and rt kernels
	scripts/build-module --all --output $(B)/kmod

.PHONY: compile_commands.json
compile_commands.json: ## how each file is compiled, for editors and clang's tools
	@scripts/compile-commands

.PHONY: clean
clean: ## remove what was built; keeps .cache (kernels) and out (results)
	rm -rf $(B)

##@ Testing
.PHONY: check
check: setup ## all tests that need no GPU; under 20 minutes on two cores
	@scripts/check

.PHONY: check-kernels
check-kernels: setup ## modules for more kernels, and the VM tests on Debian's amd64, rt and backported ones, with 1 and 4 CPUs
	@scripts/check --kernels

.PHONY: check-debug
check-debug: setup ## the VM tests, and the module's KUnit tests, on kernels with KASAN, lockdep and kmemleak, and with KCSAN
	@scripts/check --debug

.PHONY: check-deb
check-deb: deb ## the Debian packages, installed, used and removed in a bare Debian 12 (as root)
	scripts/run-tests --name deb --timeout 3600 --echo -- tests/deb/packages_test $(B)/deb

# A shell would count on from it.
unexport SECONDS
.PHONY: fuzz
fuzz: setup ## each fuzz target, and the module in a VM, for SECONDS (600)
	@scripts/check --fuzz $(or $(SECONDS),600)

MUTANTS_NEED := $(B)/bin/ptschedd $(B)/tests/conformance fuzz-targets

.PHONY: mutants
mutants: setup $(MUTANTS_NEED) ## faults that are planted are found by the tests that are for them
	scripts/run-tests --name mutants --timeout 3600 --echo -- tests/mutants/run

.PHONY: coverage
coverage: setup vm-files ## the lines of the module that tests reach, in VMs and in user space (COVERAGE="--missing")
	@scripts/coverage $(COVERAGE)

.PHONY: style
style: setup ## checkpatch, sparse, clang-format, shellcheck, codespell
	scripts/run-tests --name style -- scripts/style

.PHONY: unit
unit: tests ## the host tests alone (SAN=address,undefined B=build/asan for a sanitizer)
	scripts/run-tests --jobs 2 $(if $(TALLY),--tally $(TALLY)) $(if $(SAN),--suffix ' [$(SAN)]') $(TESTS)

.PHONY: check-stress
check-stress: setup tests $(B)/tests/jumping_clock.so ## the host tests ROUNDS times (20) on one CPU beside endless loops; the clock jumps
	@scripts/stress $(ROUNDS:%=--rounds %) --clock $(B)/tests/jumping_clock.so $(TESTS)

.PHONY: tests
tests: $(TESTS) $(if $(SAN),,$(ALL))

.PHONY: vm-files
vm-files: $(foreach pair,$(VM_FILES),$(firstword $(subst :, ,$(pair))))

.PHONY: vmtest
vmtest: setup vm-files ## the VM tests alone (KERNEL=amd64, rt, debug or kcsan; else cloud)
	scripts/run-tests --name vm -- scripts/vmtest $(KERNEL:%=--kernel %)

.PHONY: vm-shell
vm-shell: setup vm-files ## a shell in the test VM, the module at hand
	@scripts/vmtest $(KERNEL:%=--kernel %) --shell

.PHONY: check-gpu
check-gpu: all ## tests on a real NVIDIA GPU
	scripts/with-gpu tests/gpu/run

.PHONY: bench-gpu
bench-gpu: all ## benchmarks on a real NVIDIA GPU against time slicing and MPS; goes on where it was cut off
	scripts/with-gpu tests/bench/run

.PHONY: bench-ptask
bench-ptask: ## the PTask paper's programs on a real NVIDIA GPU (BENCH="--quick --json FILE")
	@scripts/with-gpu /bin/true
	@$(MAKE) bench-ptask-parts
	$(B)/samples/bench-ptask $(BENCH)

.PHONY: bench-pool
bench-pool: ## tasks for kernels that stay, on a real NVIDIA GPU (BENCH="--quick --json FILE")
	@scripts/with-gpu /bin/true
	@$(MAKE) bench-pool-parts
	@set -e; for program in $(POOL_PROGRAMS); do $(B)/samples/pool-$$program $(BENCH); done

.PHONY: bench-tasks
bench-tasks: ## tasks with in, out and inout, on a real NVIDIA GPU (BENCH="--quick --json FILE")
	@scripts/with-gpu /bin/true
	@$(MAKE) bench-tasks-parts
	@set -e; for program in $(TASKS_BENCHES); do $$program $(BENCH); done

.PHONY: bench-arena
bench-arena: ## programs with pointers on both sides, by hand and otherwise, on a real NVIDIA GPU (BENCH="--quick --json FILE")
	@scripts/with-gpu /bin/true
	@$(MAKE) bench-arena-parts
	@set -e; for program in $(ARENA_BENCHES); do $$program $(BENCH); done

.PHONY: bench-spmd
bench-spmd: ## map and reduce, by hand and by libptsched-spmd, on a real NVIDIA GPU or with --cpu (BENCH="--quick --json FILE", MPIRUN="mpirun -np 2")
ifeq ($(filter --cpu,$(BENCH)),)
	@scripts/with-gpu /bin/true
	@$(MAKE) bench-spmd-parts
else
	@$(MAKE) $(SPMD_BENCHES) $(B)/samples/spmd-summary
endif
	@set -e; for program in $(SPMD_BENCHES); do $(MPIRUN) $$program $(BENCH); done
	@set -e; $(call spmd_weak,$(SPMD_WEAK_RANKS),$(SPMD_WEAK_CPU))
	@set -e; $(call spmd_weak,$(if $(filter --cpu,$(BENCH)),,$(SPMD_WEAK_GPUS)),$(SPMD_WEAK_GPU))
	@$(B)/samples/spmd-summary $(BENCH)

.PHONY: bench-spmd-parts
bench-spmd-parts: $(SPMD_BENCHES) $(B)/samples/spmd-summary $(SPMD_BENCH_PARTS)

.PHONY: bench-arena-parts
bench-arena-parts: $(ARENA_BENCHES) $(ARENA_BENCH_PARTS)

.PHONY: bench-encfs
bench-encfs: ## the encrypted file system beside hogs on a real NVIDIA GPU, by fio (BENCH="--quick --json FILE")
	scripts/with-gpu tests/bench/encfs/run --build $(B) $(BENCH)

.PHONY: bench-module
bench-module: setup $(B)/bin/ptsim $(B)/tests/bench-policy $(B)/tests/policy_attacks $(B)/tests/policy_groups $(MUTANTS_NEED) vm-files ## what the policy and the module cost, and what attacks gain; results in out/module (BENCH="--only coverage")
	scripts/bench-module --build $(B) $(BENCH)

.PHONY: demo
demo: setup ## the priority inversion experiment in a VM; results in out/ (DEMO="--quick --preempt-only")
	scripts/demo $(DEMO)

.PHONY: simulate
simulate: setup $(B)/bin/ptsim ## the policy beside other schedulers, simulated; results in out/simulate (SIMULATE="--entities 100")
	@scripts/simulate --ptsim $(B)/bin/ptsim $(SIMULATE)

.PHONY: abi-reference
abi-reference: setup programs ## at a release: what tests/abi holds the libraries to from then on
	tests/abi/library_test --build $(B) --write

# print-LIST: for scripts that need a list of this file.
print-%:
	@printf '%s\n' $($*)

##@ Installing
# The last one is there where libfuse was.
INSTALL_PROGRAMS := ptsched ptsched-roofline ptsim $(if $(PTCRYPTFS_LIBS),ptcryptfs)
INSTALL_DAEMONS  := ptschedd
# Of graphs, which make install-ptask installs alone, and the others.
PTASK_LIBS       := libptsched-device libptask
PTASK_PC         := ptsched-device ptask
CLIENT_LIBS      := libptsched libptsched-preload
CLIENT_PC        := ptsched
POOL_LIBS        := libptsched-pool
POOL_PC          := ptsched-pool
TASKS_LIBS       := libptsched-tasks
TASKS_PC         := ptsched-tasks
ARENA_LIBS       := libptsched-arena
ARENA_PC         := ptsched-arena
# The second one is there where MPI was.
SPMD_LIBS        := libptsched-spmd $(if $(SPMD_MPI_LIBS),libptsched-spmd-mpi)
SPMD_PC          := ptsched-spmd $(if $(SPMD_MPI_LIBS),ptsched-spmd-mpi)
INSTALL_LIBS     := $(CLIENT_LIBS) $(PTASK_LIBS) $(POOL_LIBS) $(TASKS_LIBS) $(ARENA_LIBS) $(SPMD_LIBS)
INSTALL_PC       := $(CLIENT_PC) $(PTASK_PC) $(POOL_PC) $(TASKS_PC) $(ARENA_PC) $(SPMD_PC)
INSTALL_CMAKE    := ptsched-config.cmake ptsched-config-version.cmake
INSTALL_UNITS    := ptschedd.service ptsched-metrics.service ptsched-metrics.timer
CMAKE_DIR         = $(libdir)/cmake/ptsched
MAN_PAGES         = $(wildcard Documentation/man/*.[1-8])
DKMS_DIR          = $(DESTDIR)$(srcdir)/ptsched-$(VERSION)
fill_in           = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@prefix@|$(prefix)|g' \
	-e 's|@libdir@|$(libdir)|g' -e 's|@includedir@|$(includedir)|g' -e 's|@sbindir@|$(sbindir)|g' \
	-e 's|@bindir@|$(bindir)|g' -e 's|@LIBDIR@|$(call beside,$(prefix),$(libdir))|g' \
	-e 's|@INCLUDEDIR@|$(call beside,$(prefix),$(includedir))|g' -e 's|@UP@|$(call beside,$(CMAKE_DIR),$(prefix))|g'
# $(call beside,A,B): the way from folder A to folder B.
beside            = $(shell realpath -ms --relative-to=$(1) $(2))

PTASK_MAN          = Documentation/man/libptask.3
PTASK_RST          = Documentation/ptask.rst Documentation/device.rst
PTASK_HEADERS      = $(addprefix libptsched/include/ptsched/,ptask.h ptask device base)
# But for one that calls the driver by the project's own declarations.
POOL_EXAMPLE_SRCS  = $(wildcard $(addprefix samples/pool/*.,c cpp cu h))
PTASK_EXAMPLE_SRCS = $(filter-out %/call.cpp,$(wildcard samples/ptask/*.c samples/ptask/*.cpp samples/ptask/*.hpp))

# $(call install_libraries,LIBRARIES,PACKAGES,HEADERS): for programs that are built with them.
define install_libraries
	install -d $(DESTDIR)$(libdir)/pkgconfig
	cp -P $(foreach lib,$(1),$(wildcard $(B)/lib/$(lib).so*)) $(DESTDIR)$(libdir)
	set -e; for name in $(2); do $(fill_in) packaging/$$name.pc.in >$(DESTDIR)$(libdir)/pkgconfig/$$name.pc; done
	set -e; for header in $(patsubst libptsched/include/%,%,$(shell find $(3) -type f)); do \
		install -D -m 644 libptsched/include/$$header $(DESTDIR)$(includedir)/$$header; done
	$(if $(DESTDIR),,ldconfig)
endef

.PHONY: install
install: programs install-ptask ## libraries, tools, documents, udev rule, systemd units and DKMS source (DESTDIR, prefix)
	install -d $(addprefix $(DESTDIR),$(bindir) $(sbindir) $(includedir)/linux $(udevdir) $(unitdir))
	install -m 755 $(INSTALL_PROGRAMS:%=$(B)/bin/%) $(DESTDIR)$(bindir)
	install -m 755 $(INSTALL_DAEMONS:%=$(B)/bin/%) $(DESTDIR)$(sbindir)
	$(call install_libraries,$(CLIENT_LIBS),$(CLIENT_PC),libptsched/include/ptsched/ptsched.*)
	$(call install_libraries,$(POOL_LIBS),$(POOL_PC),libptsched/include/ptsched/pool.* libptsched/include/ptsched/pool)
	$(call install_libraries,$(TASKS_LIBS),$(TASKS_PC),libptsched/include/ptsched/tasks.* libptsched/include/ptsched/tasks)
	$(call install_libraries,$(ARENA_LIBS),$(ARENA_PC),libptsched/include/ptsched/arena.* libptsched/include/ptsched/arena)
	$(call install_libraries,$(SPMD_LIBS),$(SPMD_PC),libptsched/include/ptsched/spmd.* libptsched/include/ptsched/spmd)
	install -m 644 $(POOL_EXAMPLE_SRCS) $(DESTDIR)$(docdir)/examples
	install -m 644 uapi/linux/ptsched.h $(DESTDIR)$(includedir)/linux
	set -e; for unit in $(INSTALL_UNITS); do \
		$(fill_in) packaging/$$unit >$(DESTDIR)$(unitdir)/$$unit; done
	$(fill_in) packaging/60-ptsched.rules >$(DESTDIR)$(udevdir)/60-ptsched.rules
	set -e; for page in $(filter-out $(PTASK_MAN),$(MAN_PAGES)); do \
		install -D -m 644 $$page $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/}; done
	install -m 644 README.md CONTRIBUTING.md $(filter-out $(PTASK_RST),$(wildcard Documentation/*.rst)) $(DESTDIR)$(docdir)
	rm -rf $(DKMS_DIR)
	install -d $(DKMS_DIR)
	cp -R kmod uapi COPYING LICENSES VERSION $(DKMS_DIR)
	rm -f $(DKMS_DIR)/kmod/build.mk
	$(fill_in) packaging/dkms.conf >$(DKMS_DIR)/dkms.conf
	$(if $(DESTDIR),,@echo 'For the module: dkms install ptsched/$(VERSION) && modprobe ptsched')

.PHONY: install-ptask
install-ptask: $(B)/lib/libptask.so ## libptask and libptsched-device alone, with their headers and examples: needs no more than a compiler
	$(call install_libraries,$(PTASK_LIBS),$(PTASK_PC),$(PTASK_HEADERS))
	install -d $(addprefix $(DESTDIR),$(CMAKE_DIR) $(docdir)/examples)
	set -e; for file in $(INSTALL_CMAKE); do \
		$(fill_in) packaging/$$file.in >$(DESTDIR)$(CMAKE_DIR)/$$file; done
	install -D -m 644 $(PTASK_MAN) $(DESTDIR)$(mandir)/man3/$(notdir $(PTASK_MAN))
	install -m 644 $(PTASK_RST) $(DESTDIR)$(docdir)
	install -m 644 $(PTASK_EXAMPLE_SRCS) $(DESTDIR)$(docdir)/examples

.PHONY: deb
deb: ## Debian packages, in build/deb
	@scripts/setup --packages
	scripts/deb --output $(B)/deb

.PHONY: uninstall
uninstall: ## remove what "make install" put there (same DESTDIR and prefix)
	$(if $(DESTDIR),,-dkms remove ptsched/$(VERSION) --all)
	rm -rf $(DKMS_DIR) $(addprefix $(DESTDIR),$(includedir)/ptsched $(CMAKE_DIR) $(docdir))
	rm -f $(addprefix $(DESTDIR),$(INSTALL_PROGRAMS:%=$(bindir)/%) \
		$(INSTALL_DAEMONS:%=$(sbindir)/%) $(includedir)/linux/ptsched.h \
		$(INSTALL_PC:%=$(libdir)/pkgconfig/%.pc) $(INSTALL_UNITS:%=$(unitdir)/%) \
		$(udevdir)/60-ptsched.rules)
	rm -f $(foreach lib,$(INSTALL_LIBS),$(DESTDIR)$(libdir)/$(lib).so*)
	rm -f $(foreach page,$(notdir $(MAN_PAGES)),$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(page)))/$(page))

##@ Help
.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z_.-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@printf '\nVariables: B=build directory, SAN=sanitizers, PTSCHED_CACHE=directory for kernels,\n'
	@printf '  UNITY=yes: what is built is compiled a folder at a time (scripts/unity.mk)\n'

# Tests, programs among the samples, and all of it under a sanitizer or with PARSE_ONCE=yes, as "make check" has it,
# parse the standard library once. Otherwise libraries and tools show that each file includes what it needs.
STD_HEADERS := algorithm array atomic chrono condition_variable cstdint cstdio cstring filesystem fstream functional \
	iostream map memory mutex optional set span sstream stdexcept string system_error thread vector
# By compiler, since none reads another's.
PARSED      := $(B)/std-$(notdir $(lastword $(CXX))).hpp.gch
# Compilers take it only with the visibility with which it was made.
PARSED_HIDDEN := $(B)/hidden/$(notdir $(PARSED))
USE_PARSED   = -include $(patsubst %.gch,%,$(if $(findstring -fvisibility,$(CXXFLAGS)),$(PARSED_HIDDEN),$(PARSED)))
# For objects that are compiled by a rule of their own, with that visibility.
USE_PARSED_HIDDEN = $(if $(SAN),-include $(PARSED_HIDDEN:.gch=))
# For what is optimised, by what compilers ask for: with or without that visibility, and debug information. Examples,
# which are taken away, parse for themselves.
OPTIMISED        = $(B)/optimised/$(1)/$(notdir $(PARSED))
PARSED_OPTIMISED := $(foreach kind,seen seen/described hidden hidden/described,$(call OPTIMISED,$(kind)))
# Of what was parsed before, gcc 12 does not know that it is a system's header, where some warnings are mistakes.
USE_OPTIMISED    = -Wno-array-bounds -Wno-stringop-overflow -include $(patsubst %.gch,%,$(call OPTIMISED,$(if \
	$(findstring -fvisibility,$(CXXFLAGS)),hidden,seen)$(if $(filter -g,$(CXXFLAGS)),/described)))
# What tests take to compile is more than what they gain by more.
TESTS_OPT   := $(if $(SAN),,-O0)
# Not those of whatever needs it first.
PARSED_FLAGS := $(CPPFLAGS) $(CXXFLAGS)

$(patsubst %.gch,%,$(PARSED) $(PARSED_HIDDEN) $(PARSED_OPTIMISED) $(FUZZ_DIR)/std.hpp.gch):
	@mkdir -p $(@D)
	printf '#include <%s>\n' $(STD_HEADERS) >$@
# Clang's carries the path and the time of its header: one out of a compiler cache may be another tree's.
$(PARSED): PARSED_FLAGS += $(TESTS_OPT)
$(PARSED_HIDDEN): PARSED_FLAGS += $(TESTS_OPT) -fvisibility=hidden
$(B)/optimised/hidden/%: PARSED_FLAGS += $(LIBRARY_CXXFLAGS)
$(call OPTIMISED,seen/described) $(call OPTIMISED,hidden/described): PARSED_FLAGS += $(DESCRIBED)
$(PARSED) $(PARSED_HIDDEN) $(PARSED_OPTIMISED): %.gch: %
	CCACHE_DISABLE=1 $(CXX) $(PARSED_FLAGS) -x c++-header $< -o $@

# There, optimising what parses options and patterns takes most of the build.
ifneq ($(SAN),)
$(CLIENT_OBJS) $(PRELOAD_OBJS): | $(PARSED_HIDDEN)
UNOPTIMISED := $(addprefix $(B)/obj/,$(addsuffix .o,tools/ptsched/main.cpp tools/ptschedd/device_address.cpp \
	tests/vgpu/vgpud.cpp tests/vgpu/vgpu-stat.cpp tests/vgpu/programs/inversion-client.cpp))
$(UNOPTIMISED): OPT := -O0 -g0
$(UNOPTIMISED): USE_PARSED :=
# The policy's tests compute a lot, and C is compiled in no time.
$(B)/obj/%.c.o: OPT := -O1 -g1
else
SAMPLE_OBJS := $(patsubst %,$(B)/obj/%.o,$(wildcard samples/pool/*/*.cpp samples/tasks/*/*.cpp samples/ptask/paper/*.cpp samples/ptask/paper/*/*.cpp))
endif
# Those that find the standard library parsed.
PARSED_OBJS := $(if $(SAN)$(PARSE_ONCE),%,$(SAMPLE_OBJS))
$(SAMPLE_OBJS): | $(call OPTIMISED,seen)

# A library's names: the one that programs are linked with, the one that they ask for, and what it is.
$(B)/lib/%.so.0: $(B)/lib/%.so.$(VERSION)
	ln -sf $(<F) $@

$(B)/lib/%.so: $(B)/lib/%.so.0
	ln -sf $(<F) $@

define compile
@mkdir -p $(@D)
$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(1) -MMD -MP -c $< -o $@
endef

$(B)/obj/tests/%.cpp.o: tests/%.cpp | $(PARSED) $(PARSED_HIDDEN)
	$(call compile,$(TESTS_OPT) $(USE_PARSED))

$(B)/obj/%.cpp.o: %.cpp | $(if $(SAN),$(PARSED) $(PARSED_HIDDEN),$(if $(PARSE_ONCE),$(PARSED_OPTIMISED)))
	$(call compile,$(if $(filter $(PARSED_OBJS),$@),$(if $(SAN),$(USE_PARSED),$(USE_OPTIMISED))))

$(B)/obj/%.c.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
