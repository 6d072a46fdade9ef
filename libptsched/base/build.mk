# SPDX-License-Identifier: MIT
# What libraries and tools have in common. What throws, or knows the standard clock, is for devices and graphs alone.
BASE_SRCS := $(filter-out %/worker.cpp %/chrono_clock.cpp %/c_error.cpp,$(wildcard libptsched/base/*.cpp))
