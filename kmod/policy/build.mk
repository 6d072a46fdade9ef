# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The policy's sources, for whoever compiles them outside of the module.
POLICY_SRCS := $(addprefix kmod/policy/,beside.c budget.c decide.c gang.c handover.c order.c params.c policy.c review.c tree.c vtime.c weight.c)
