# SPDX-License-Identifier: MIT
TESTS += tests/abi/abi_test
TESTS_NOSAN += tests/abi/abi_test
