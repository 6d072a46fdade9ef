# SPDX-License-Identifier: MIT
ABI_TESTS   := tests/abi/abi_test tests/abi/exports_test
TESTS       += $(ABI_TESTS)
TESTS_NOSAN += $(ABI_TESTS)
