# SPDX-License-Identifier: MIT
TESTS += tests/install/install_test
TESTS_NOSAN += tests/install/install_test
