// SPDX-License-Identifier: MIT
/*
 * Squares of numbers, each a task of its own, from C.
 *
 *	build/samples/squares MODULE
 *
 * MODULE is squares.cu as nvcc -cubin or -fatbin has compiled it, or for the
 * virtual GPU (LD_LIBRARY_PATH=build/vgpu, beside build/vgpu/vgpud)
 * build/vgpu/squares.so.
 */
#include "squares.h"

#include <ptsched/pool.h>

#include <errno.h>
#include <stdio.h>

enum { numbers = 500 };

/* All at once: options have room for 8192 to wait, and for as many results. */
static int push_all(struct ptsched_pool *pool)
{
    static struct square tasks[numbers];
    int error;

    for (int i = 0; i < numbers; i++)
        tasks[i].number = i;
    error = ptsched_pool_push_many(pool, 0, tasks, numbers, NULL, PTSCHED_POOL_FOREVER, NULL);
    return error ? error : ptsched_pool_close(pool);
}

/* In whichever order they come back. Returns 0 if all have, with what is right. */
static int pop_all(struct ptsched_pool *pool)
{
    struct square task;
    double sum = 0;
    int popped = 0, error;

    while (!(error = ptsched_pool_pop(pool, 0, &task, sizeof(task), NULL, PTSCHED_POOL_FOREVER))) {
        if (task.result != task.number * task.number) {
            fprintf(stderr, "squares: %g squared is not %g\n", task.number, task.result);
            return 1;
        }
        sum += task.result;
        popped++;
    }
    if (error != -ENODATA)
        return error;
    printf("the sum of %d squares is %.0f\n", popped, sum);
    return popped != numbers || sum != (numbers - 1.0) * numbers * (2 * numbers - 1) / 6;
}

int main(int argc, char **argv)
{
    const size_t task_bytes = sizeof(struct square);
    struct ptsched_pool_kernel kernel = {.size = sizeof(kernel), .name = "squares"};
    const struct ptsched_pool_options options = {
        .size = sizeof(options),
        .kernel = &kernel,
        .threads = 32,
        .attach = PTSCHED_POOL_ATTACH,
    };
    struct ptsched_pool *pool;
    int error;

    if (argc != 2) {
        fprintf(stderr, "usage: squares MODULE, which is squares.cu as nvcc -cubin has compiled it\n");
        return 2;
    }
    kernel.module = argv[1];
    error = ptsched_pool_create(&options, &task_bytes, 1, &pool);
    if (!error) {
        error = push_all(pool);
        if (!error)
            error = pop_all(pool);
        ptsched_pool_destroy(pool);
    }
    if (error < 0)
        fprintf(stderr, "squares: %s\n", ptsched_pool_error_text());
    return error != 0;
}
