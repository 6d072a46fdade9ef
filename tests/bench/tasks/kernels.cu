/* SPDX-License-Identifier: MIT */

extern "C" __global__ void nothing() {}

/* Says that it has run; a word of the host's memory. */
extern "C" __global__ void say(unsigned int *word, unsigned int what)
{
    *(volatile unsigned int *)word = what;
}
