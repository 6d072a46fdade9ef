# SPDX-License-Identifier: MIT
# libptsched-preload.so: the scheduler's client for CUDA programs that know
# nothing of it. Self-contained, so that it fits under any program: it brings its
# own libptsched and, except under a sanitizer, its own C++ runtime.
PRELOAD_DIR  := libptsched/preload
PRELOAD_SRCS := $(wildcard $(PRELOAD_DIR)/*/*.cpp) $(wildcard libptsched/rm/*.cpp)
# A sanitizer's program shares libgcc_s and libstdc++ with its libraries.
ifneq ($(SAN),)
PRELOAD_SRCS := $(filter-out %/unwinder.cpp,$(PRELOAD_SRCS))
endif
PRELOAD_OBJS := $(call objects,$(PRELOAD_SRCS),preload/)
PRELOAD_SO   := $(B)/lib/libptsched-preload.so
# Not -Bsymbolic: with that, the loader looks for what we ask it for here first, and not where the program's order has it.
PRELOAD_LDFLAGS := -shared -Wl,-soname,libptsched-preload.so -Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now \
	-Wl,--exclude-libs,ALL -Wl,--version-script=$(PRELOAD_DIR)/exports.map \
	$(if $(SAN),,-static-libstdc++ -static-libgcc -Wl,-z,defs)
# Stand-ins for the C library, in the versions that c_library.map says.
PRELOAD_C    := $(B)/obj/preload/c-library
PRELOAD_LIBC := $(PRELOAD_C)/libc.so.6 $(PRELOAD_C)/libpthread.so.0 $(PRELOAD_C)/libdl.so.2

# The look-ups run before a sanitizer's own start-up, which uses them.
$(B)/obj/preload/$(PRELOAD_DIR)/entry/dlsym.cpp.o: PRELOAD_SAN := -fno-sanitize=all
$(B)/obj/preload/$(PRELOAD_DIR)/driver/entry_points.cpp.o: PRELOAD_SAN := -fno-sanitize=all
$(B)/obj/preload/$(PRELOAD_DIR)/entry/sanitizers.cpp.o: PRELOAD_SAN := -fno-sanitize=all
$(B)/obj/preload/$(PRELOAD_DIR)/loaded/loaded_object.cpp.o: PRELOAD_SAN := -fno-sanitize=all
$(B)/obj/preload/$(PRELOAD_DIR)/loaded/real_dlsym.cpp.o: PRELOAD_SAN := -fno-sanitize=all

$(B)/obj/preload/%.cpp.o: CPPFLAGS += $(if $(SAN),,-DPTSCHED_PROGRAMS_UNWINDER)
$(B)/obj/preload/%.cpp.o: %.cpp
	$(call compile,$(PORTABLE) -fvisibility=hidden -ffunction-sections $(or $(PRELOAD_SAN),$(USE_PARSED_HIDDEN)))

ifneq ($(SAN),)
$(PRELOAD_SO): $(PRELOAD_OBJS) $(B)/lib/libptsched-core.a $(PRELOAD_DIR)/exports.map
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $(PRELOAD_LDFLAGS) $(PRELOAD_OBJS) $(B)/lib/libptsched-core.a -ldl -o $@
else
$(PRELOAD_C)/names: $(PRELOAD_DIR)/loaded/c_library.map
	@mkdir -p $(@D)
	sed -n 's/^    \([A-Za-z_0-9]*\);$$/\1/p' $< >$@

$(PRELOAD_C)/libc.so.6: $(PRELOAD_C)/names $(PRELOAD_DIR)/loaded/c_library.map
	sed 's/.*/.globl &\n.type &, @function\n&:/' $< | $(CC) -shared -nostdlib -Wl,-soname,$(@F) \
		-Wl,--version-script=$(PRELOAD_DIR)/loaded/c_library.map -x assembler - -o $@

# Where they are libraries of their own still, and empty ones since.
$(PRELOAD_C)/libpthread.so.0 $(PRELOAD_C)/libdl.so.2: $(PRELOAD_C)/libc.so.6
	$(CC) -shared -nostdlib -Wl,-soname,$(@F) -x c /dev/null -o $@

# All in one, so that what is taken from the C library can be made weak: a loader that does not find it goes on.
$(PRELOAD_C)/all.o: $(PRELOAD_OBJS) $(B)/lib/libptsched-core.a $(PRELOAD_C)/names
	$(LD) -r -o $@ $(PRELOAD_OBJS) $(B)/lib/libptsched-core.a --start-group \
		$(foreach library,libstdc++.a libgcc.a libc_nonshared.a,$(shell $(CXX) -print-file-name=$(library))) --end-group
	objcopy --weaken-symbols=$(PRELOAD_C)/names $@

# Another compiler's own library may take what is not in that list: then this C library, or a newer one, is needed.
$(PRELOAD_SO): $(PRELOAD_C)/all.o $(PRELOAD_LIBC) $(PRELOAD_OBJS) $(B)/lib/libptsched-core.a $(PRELOAD_DIR)/exports.map
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $(PRELOAD_LDFLAGS) -nodefaultlibs -Wl,--gc-sections -Wl,--no-as-needed $< $(PRELOAD_LIBC) -o $@ \
		2>$(PRELOAD_C)/link.log || { \
		echo "$@: for this machine's C library only, since what this compiler brings needs more ($(PRELOAD_C)/link.log)" && \
		$(CXX) $(LDFLAGS) $(PRELOAD_LDFLAGS) $(PRELOAD_OBJS) $(B)/lib/libptsched-core.a -ldl -o $@; }
endif

ALL += $(PRELOAD_SO)
