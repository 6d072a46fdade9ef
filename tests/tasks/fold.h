/* SPDX-License-Identifier: MIT */
/* What a task of the random sets does to memory, for the host's compiler and for that of kernels. */
#ifndef TEST_TASKS_FOLD_H
#define TEST_TASKS_FOLD_H

#ifndef __CUDACC__
#ifndef VGPU
#define __host__
#define __device__
#endif
#endif

enum FoldKind {
    fold_in,          /* is read */
    fold_out,         /* is written */
    fold_inout,       /* both */
    fold_commutative, /* is added to, by one task at a time */
    fold_sum,         /* the same, by a copy of its own */
    fold_xor,
    fold_nothing, /* is for tasks inside */
};

/* Of one block's memory, whose size is the most that a range can have. */
#define FOLD_MOST_BYTES 768
#define FOLD_MOST_PARTS 4

struct FoldPart {
    unsigned char *at;
    unsigned int rows, row_bytes, pitch, kind;
};

struct Fold {
    struct FoldPart parts[FOLD_MOST_PARTS];
    unsigned int count, seed;
};

__host__ __device__ inline unsigned char *fold_byte(const struct FoldPart *part, unsigned int i)
{
    return part->at + (unsigned long long)(i / part->row_bytes) * part->pitch + i % part->row_bytes;
}

/* Which byte comes after which matters. */
__host__ __device__ inline unsigned int fold_mix(unsigned int hash, unsigned int value)
{
    hash = (hash ^ value) * 0x9e3779b1U;
    return hash ^ (hash >> 15);
}

/* Of all that is read. */
__host__ __device__ inline unsigned int fold_reads(const struct Fold *fold)
{
    unsigned int hash = fold_mix(0x811c9dc5U, fold->seed);

    for (unsigned int p = 0; p < fold->count; p++) {
        const struct FoldPart *part = &fold->parts[p];

        if (part->kind == fold_in || part->kind == fold_inout)
            for (unsigned int i = 0; i < part->rows * part->row_bytes; i++)
                hash = fold_mix(hash, *fold_byte(part, i));
    }
    return hash;
}

/*
 * @old: of FOLD_MOST_BYTES, for what is there before it is added to: who writes in between is found. @pause is called
 * there.
 */
template <typename Pause>
__host__ __device__ inline void fold_writes(const struct Fold *fold, unsigned int hash, unsigned char *old, Pause pause)
{
    for (unsigned int p = 0; p < fold->count; p++) {
        const struct FoldPart *part = &fold->parts[p];
        const unsigned int bytes = part->rows * part->row_bytes;

        if (part->kind == fold_in || part->kind == fold_nothing)
            continue;
        for (unsigned int i = 0; i < bytes; i++)
            old[i] = part->kind == fold_out ? 0 : *fold_byte(part, i);
        pause();
        for (unsigned int i = 0; i < bytes; i++) {
            const unsigned int value = fold_mix(hash + p, i);

            if (part->kind == fold_xor)
                *fold_byte(part, i) = (unsigned char)(old[i] ^ value);
            else if (part->kind == fold_commutative || part->kind == fold_sum)
                *fold_byte(part, i) = (unsigned char)(old[i] + value);
            else
                *fold_byte(part, i) = (unsigned char)(value ^ (value >> 8));
        }
    }
}

#endif /* TEST_TASKS_FOLD_H */
