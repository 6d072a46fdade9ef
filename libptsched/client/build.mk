# SPDX-License-Identifier: MIT
# libptsched.so for programs, and the same objects as an archive for what embeds
# them: link that with -Wl,--exclude-libs,libptsched-core.a so that the program's
# own libptsched.so is not shadowed.
CLIENT_DIR  := libptsched/client
CLIENT_SRCS := $(BASE_SRCS) $(wildcard $(CLIENT_DIR)/*.cpp) kmod/policy/weight.c
CLIENT_OBJS := $(CLIENT_SRCS:%=$(B)/obj/client/%.o)
CLIENT_SO   := $(B)/lib/libptsched.so

# Own objects: what is compiled here must not be seen from outside.
$(B)/obj/client/%.cpp.o: %.cpp
	$(call compile,$(PORTABLE) -fvisibility=hidden -ffunction-sections $(USE_PARSED_HIDDEN))

$(B)/obj/client/%.c.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(PORTABLE) -fvisibility=hidden -MMD -MP -c $< -o $@

# Where functions are that programs call.
$(filter %/client.cpp.o %/error_text.cpp.o,$(CLIENT_OBJS)): CXXFLAGS += $(DESCRIBED)

$(B)/lib/libptsched-core.a: $(CLIENT_OBJS)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

# A thread of its own may be asleep in it when a program unloads it: it stays.
$(CLIENT_SO).$(VERSION): $(CLIENT_OBJS) $(CLIENT_DIR)/libptsched.map
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -shared -Wl,-soname,libptsched.so.0 -Wl,-z,nodelete \
		-Wl,--version-script=$(CLIENT_DIR)/libptsched.map $(CLIENT_OBJS) -o $@

ALL += $(CLIENT_SO) $(B)/lib/libptsched-core.a
