# SPDX-License-Identifier: MIT
# Tests of the interposer: routes and gate against a driver and a scheduler that do what the test says;
# programs against the virtual GPU and the broker.
PT       := tests/preload
PT_LIB   := $(B)/tests/preload

$(B)/obj/tests/hand_clock.cpp.o: CXXFLAGS += -fvisibility=hidden
$(B)/obj/$(PT)/hand_driver.cpp.o $(B)/obj/$(PT)/scripted_client.cpp.o: CXXFLAGS += -fvisibility=hidden

$(PT_LIB)/libcuda.so.1: $(B)/obj/$(PT)/hand_driver.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic $^ -o $@

# The same with symbol versions, which make dlvsym() find something.
$(PT_LIB)/versioned/libcuda.so.1: $(B)/obj/$(PT)/hand_driver.cpp.o $(PT)/hand_driver.map
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,--version-script=$(PT)/hand_driver.map $< -o $@

# The interposer's own objects with the scripted scheduler in place of the client library, but for the way to the helper;
# with the test's time, or with the real one for what measures.
PT_SCRIPTED := $(PRELOAD_OBJS) $(B)/obj/$(PT)/scripted_client.cpp.o \
	$(patsubst %,$(B)/obj/client/libptsched/%.cpp.o,client/broker_connection client/broker_socket client/broker_watch \
	client/error_text base/doorbell base/kept_fd base/linger base/standard_error base/start_path)
$(PT_LIB)/libptsched-preload.so: $(PT_SCRIPTED) $(B)/obj/tests/hand_clock.cpp.o
$(PT_LIB)/libptsched-preload.so: PT_WRAP := -Wl,--wrap=pthread_create
$(PT_LIB)/real-time/libptsched-preload.so: $(PT_SCRIPTED) $(B)/obj/client/libptsched/base/time_calls.cpp.o
$(PT_LIB)/libptsched-preload.so $(PT_LIB)/real-time/libptsched-preload.so: $(PT)/exports.map
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $(subst $(PRELOAD_DIR)/exports.map,$(PT)/exports.map,$(PRELOAD_LDFLAGS)) $(PT_WRAP) \
		$(filter %.o,$^) -ldl -o $@

# Linked with the driver beside them; but preload-routes-late with none.
PT_LINKED := preload-routes preload-gate preload-in-flight preload-charging preload-order preload-departures preload-mps bench-gate
$(B)/tests/bench-gate: $(PT_LIB)/real-time/libptsched-preload.so
$(PT_LINKED:%=$(B)/tests/%): $(B)/tests/%: $(B)/obj/$(PT)/%.cpp.o $(PT_LIB)/libcuda.so.1 $(PT_LIB)/libptsched-preload.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -rdynamic -Wl,--no-as-needed $< $(PT_LIB)/libcuda.so.1 -Wl,-rpath,'$$ORIGIN/preload' -o $@

$(B)/tests/preload-routes-late: $(B)/obj/$(PT)/preload-routes-late.cpp.o $(PT_LIB)/versioned/libcuda.so.1 $(PT_LIB)/libptsched-preload.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $< -o $@

$(B)/tests/preload-client: $(B)/obj/$(PT)/preload-client.cpp.o $(B)/vgpu/libcuda.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $< $(B)/vgpu/libcuda.so -Wl,-rpath,'$$ORIGIN/../vgpu' -o $@

# Never with a sanitizer: they are other people's.
$(PT_LIB)/neighbour.so: $(PT)/neighbour.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC $(WARNINGS) $< -o $@

$(PT_LIB)/stand-in.so: $(PT)/neighbour.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC $(WARNINGS) -DSTAND_IN $< -o $@

$(B)/tests/preload-neighbours: $(B)/obj/$(PT)/preload-neighbours.cpp.o $(PT_LIB)/libcuda.so.1 $(PT_LIB)/neighbour.so \
		$(PT_LIB)/stand-in.so $(PT_LIB)/libptsched-preload.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -Wl,-z,dynamic-undefined-weak $< -o $@

PT_WORLD := $(addprefix $(B)/tests/,preload-programs preload-preemption preload-preempted-output)
$(PT_WORLD): $(B)/tests/%: $(B)/obj/$(PT)/%.cpp.o | $(B)/tests/preload-client $(B)/vgpu/vgpud \
		$(B)/vgpu/vgpu-stat $(B)/vgpu/inversion-client $(B)/vgpu/kernels.so $(B)/vgpu/rm-shim.so \
		$(B)/bin/ptschedd $(PRELOAD_SO)
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $< -o $@

$(B)/tests/preload-channels: $(B)/obj/$(PT)/preload-channels.cpp.o $(B)/obj/preload/$(PRELOAD_DIR)/turn/channels.cpp.o \
		$(B)/obj/preload/libptsched/rm/rm_channels.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

$(B)/tests/preload-estimates: $(B)/obj/$(PT)/preload-estimates.cpp.o $(B)/obj/preload/$(PRELOAD_DIR)/meter/estimate.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

$(B)/tests/preload-event-times: $(B)/obj/$(PT)/preload-event-times.cpp.o $(B)/obj/preload/$(PRELOAD_DIR)/meter/event_times.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

$(B)/tests/preload-above: $(B)/obj/$(PT)/preload-above.cpp.o $(B)/obj/preload/$(PRELOAD_DIR)/turn/above.cpp.o
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

$(B)/tests/preload-linger: $(B)/obj/$(PT)/preload-linger.cpp.o $(B)/lib/libptsched-core.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ -o $@

TESTS += $(B)/tests/preload-above $(B)/tests/preload-channels $(B)/tests/preload-estimates $(B)/tests/preload-event-times $(B)/tests/preload-linger
TESTS += $(B)/tests/preload-departures $(B)/tests/preload-neighbours $(B)/tests/preload-routes $(B)/tests/preload-routes-late $(B)/tests/preload-gate $(B)/tests/preload-in-flight $(B)/tests/preload-charging $(B)/tests/preload-order $(B)/tests/preload-mps \
	$(PT_WORLD)
TESTS += tests/preload/coverage tests/preload/portability
TESTS_NOSAN += tests/preload/coverage tests/preload/portability
ALL   += $(B)/tests/bench-gate

VM_FILES += $(B)/bin/ptschedd:/usr/bin/ $(B)/tests/preload-client:/usr/bin/ tests/preload/helper_vm.sh:/vm/tests/helper
VM_TESTS += /vm/tests/helper
