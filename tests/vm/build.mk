# SPDX-License-Identifier: MIT
TESTS += tests/vm/runner_test
TESTS_NOSAN += tests/vm/runner_test

VM_FILES += tests/vm/tap.sh:/vm/tests/ tests/vm/kunit.sh:/vm/tests/kunit
