# SPDX-License-Identifier: MIT
# What libraries and tools have in common; and what throws, or knows the standard clock, which is for graphs alone.
BASE_GRAPH_SRCS := $(addprefix libptsched/base/,worker.cpp time_source.cpp)
BASE_SRCS       := $(filter-out $(BASE_GRAPH_SRCS),$(wildcard libptsched/base/*.cpp))
