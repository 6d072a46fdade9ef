/* SPDX-License-Identifier: MIT */
/* Says that it has come to run; with OWN_OPTIONS it has also told the address sanitizer what it wants. */
#include <stdio.h>

#ifdef OWN_OPTIONS
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

int main(void)
{
	puts("address sanitizer");
	return 0;
}
