/* SPDX-License-Identifier: MIT */
#include "tests/tasks/fold.h"

extern "C" __global__ void fold(Fold fold)
{
    unsigned char old[FOLD_MOST_BYTES];

    fold_writes(&fold, fold_reads(&fold), old, [] {});
}
