// SPDX-License-Identifier: MIT
/* A pool of tasks for the host alone, in C. */
#include <ptsched/pool.h>
#include <stdio.h>

struct number {
    long long x, y;
};

static int twice(void *context, void *task)
{
    struct number *number = task;

    (void)context;
    number->y = 2 * number->x;
    return 0;
}

int main(void)
{
    const struct ptsched_pool_options options = {.size = sizeof(options), .host_threads = 1};
    const struct ptsched_pool_how how = {.size = sizeof(how), .where = PTSCHED_POOL_ON_HOST};
    const size_t task_bytes = sizeof(struct number);
    struct number number = {21, 0};
    struct ptsched_pool *pool = NULL;

    if (ptsched_pool_create(&options, &task_bytes, 1, &pool) || ptsched_pool_on_host(pool, 0, twice, NULL) ||
        ptsched_pool_push(pool, 0, &number, &how, PTSCHED_POOL_FOREVER) ||
        ptsched_pool_pop(pool, 0, &number, sizeof(number), NULL, PTSCHED_POOL_FOREVER)) {
        fprintf(stderr, "%s\n", ptsched_pool_error_text());
        ptsched_pool_destroy(pool);
        return 1;
    }
    ptsched_pool_destroy(pool);
    printf("%lld\n", number.y);
    return 0;
}
