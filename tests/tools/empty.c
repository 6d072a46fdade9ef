// SPDX-License-Identifier: MIT
/* A library that does nothing, to be preloaded where the interposer is not what is tested. */
int tools_test_empty;
