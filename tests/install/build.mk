# SPDX-License-Identifier: MIT
TESTS += $(addprefix tests/install/,install_test dkms_test)
TESTS_NOSAN += $(addprefix tests/install/,install_test dkms_test)
