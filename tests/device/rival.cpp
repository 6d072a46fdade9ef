// SPDX-License-Identifier: MIT
#include "tests/device/rival.hpp"

#include <ptsched/ptsched.hpp>

int test::rival()
{
    auto say = [](char what) { return write(STDOUT_FILENO, &what, 1) == 1; };
    ptsched::Client client("ffff:01:00.0", PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER);
    char what;
    if (!say('r'))
        return 1;
    while (read(STDIN_FILENO, &what, 1) == 1) {
        ptsched::Turn turn(client);
        if (!say('h') || read(STDIN_FILENO, &what, 1) != 1)
            return 1;
    }
    return 0;
}
