/* SPDX-License-Identifier: MIT */
/* What the engine of a GPU tells the kernel of <ptsched/spmd.cuh>, and is told. For host compilers and nvcc. */
#ifndef PTSCHED_SPMD_GPU_LAUNCH_H
#define PTSCHED_SPMD_GPU_LAUNCH_H

namespace ptsched::spmd::gpu {

constexpr unsigned int version = 2;
/* Threads that add up rows for each element: each every so many of them. */
constexpr unsigned int parts_of_fold = 8;

/* One kernel does all of them, one at a launch. */
enum class Step : unsigned int {
    describe, /* what the functions are */
    map,
    fold,   /* of dense keys: the rows of all blocks become one */
    clear,  /* of a new table */
    gather, /* of a table: its entries become a list of pairs, and it is empty again */
};

/* How pairs are kept on the device. */
enum class Way : unsigned int {
    list,  /* one behind the other, in no order */
    dense, /* keys are small numbers: each block of threads has a row with a value for each */
    table, /* by the hashes of keys, with open addressing */
};

struct Traits {
    unsigned int version;
    Way way;
    unsigned int is_text; /* keys are byte strings of the input */
    unsigned int key_bytes, value_bytes;
    unsigned int keys;         /* of dense ones, how many */
    unsigned int most_pairs;   /* of a record; a list may need more, which costs a second run */
    unsigned int record_bytes; /* 0: any */
    unsigned int threads;      /* of a block */
};

/* A byte string of the input, as it goes home. */
constexpr unsigned int offset_bits = 32, length_bits = 20, tag_bits = 12;
constexpr unsigned int most_text_bytes = (1U << length_bits) - 1;

/* Of a run; the host sets it to zeros. */
struct Counts {
    unsigned long long pairs;     /* of the list: as many as there would be, if there were room */
    unsigned long long wrong;     /* keys that cannot be: too large, or too long */
    unsigned long long wrong_key; /* one of them: the number, or the length */
};

struct Launch {
    Step step;
    unsigned int is_fresh; /* rows have nothing from before */
    /* The records, and the parameters. */
    const unsigned char *data;
    unsigned long long bytes, first, records, record_bytes;
    const unsigned char *parameters;
    unsigned long long parameter_bytes;
    /* The list; of a fold, the values of all keys and, in place of keys, whether there are some. */
    unsigned char *keys, *values;
    unsigned long long capacity;
    Counts *counts;
    /* Rows: values, and whether there are some; so many of them, for a fold. */
    unsigned char *rows;
    unsigned int *row_flags;
    unsigned int row_count;
    /* The table: a power of two of entries, and their values. */
    unsigned long long *entries;
    unsigned char *entry_values;
    unsigned long long entry_count;
    Traits *traits;
};

} // namespace ptsched::spmd::gpu

#endif /* PTSCHED_SPMD_GPU_LAUNCH_H */
