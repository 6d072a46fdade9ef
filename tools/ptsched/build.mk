# SPDX-License-Identifier: MIT
# The command line tool ptsched. Where one of its libraries is missing, as on a bare GPU
# machine, everything else is built without it.

PTSCHED_PKGS    := libnl-3.0 libnl-genl-3.0 ncursesw CLI11 nlohmann_json protobuf-lite
PTSCHED_MISSING := $(shell for package in $(PTSCHED_PKGS); do \
	pkg-config --exists $$package 2>/dev/null || echo $$package; done; command -v protoc >/dev/null || echo protoc)
PTSCHED_OBJS    := $(call objects,$(wildcard tools/ptsched/*.cpp))
PERFETTO_DIR    := $(B)/obj/tools/ptsched/perfetto

ifeq ($(PTSCHED_MISSING),)

$(PTSCHED_OBJS): CPPFLAGS += -isystem $(PERFETTO_DIR) $(shell pkg-config --cflags $(PTSCHED_PKGS)) \
	-DPTSCHED_LIBDIR='"$(libdir)"' -DPTSCHED_TRIPLET='"$(shell $(CXX) -print-multiarch)"'

# With ncursesw's macros the standard library is another.
$(PTSCHED_OBJS): USE_PARSED :=

$(PERFETTO_DIR)/perfetto.pb.cc: tools/ptsched/perfetto.proto
	@mkdir -p $(@D)
	protoc --proto_path=$(<D) --cpp_out=$(@D) $<

# Its warnings are nobody's.
$(PERFETTO_DIR)/perfetto.pb.o: $(PERFETTO_DIR)/perfetto.pb.cc
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -w -c $< -o $@

$(B)/obj/tools/ptsched/trace_file.cpp.o: $(PERFETTO_DIR)/perfetto.pb.cc

$(B)/bin/ptsched: $(PTSCHED_OBJS) $(PERFETTO_DIR)/perfetto.pb.o $(B)/obj/libptsched/client/device_name.cpp.o \
		$(B)/obj/libptsched/base/time_calls.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs $(PTSCHED_PKGS))

ALL      += $(B)/bin/ptsched
TESTS    += $(B)/tests/tools
# They preload the interposer into programs of the system, which have no thread sanitizer.
TESTS_NOSAN += $(if $(findstring thread,$(SAN)),$(B)/tests/tools)
VM_FILES += $(B)/bin/ptsched:/usr/bin/ptsched $(B)/tests/tools-client:/usr/bin/tools-client \
	tests/tools/vm.sh:/vm/tests/tools
VM_TESTS += /vm/tests/tools

else

.PHONY: ptsched-skipped
ptsched-skipped:
	@echo "The tool ptsched is not built: pkg-config finds no $(PTSCHED_MISSING); scripts/setup installs them." >&2

ALL += ptsched-skipped

endif
