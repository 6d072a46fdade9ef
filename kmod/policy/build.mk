# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The policy's sources, for whoever compiles them outside of the module.
POLICY_SRCS := $(addprefix kmod/policy/,activity.c beside.c budget.c decide.c earning.c \
	entity.c gang.c group.c handover.c order.c params.c review.c tree.c vtime.c weight.c)
