# SPDX-License-Identifier: MIT
ABI_TESTS   := tests/abi/abi_test tests/abi/exports_test tests/abi/library_test
TESTS       += $(ABI_TESTS)
TESTS_NOSAN += $(ABI_TESTS)
