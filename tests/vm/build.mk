# SPDX-License-Identifier: MIT
TESTS += tests/vm/runner_test
TESTS_NOSAN += tests/vm/runner_test
