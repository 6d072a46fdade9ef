# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The policy's sources, for whoever compiles them outside of the module.
POLICY_SRCS := kmod/policy/policy.c kmod/policy/beside.c kmod/policy/budget.c kmod/policy/params.c kmod/policy/nice.c
