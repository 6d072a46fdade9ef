/* SPDX-License-Identifier: MIT */
/* Asks for a device that nobody has. */
#include <ptsched/ptsched.h>
#include <stdio.h>

int main(void)
{
    struct ptsched_client *client;

    if (!ptsched_open("none", PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_AUTO, &client))
        return 1;
    printf("42\n");
    return 0;
}
