// SPDX-License-Identifier: MIT
#include "tests/tasks/c_checks.h"

#include <ptsched/tasks.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void check(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "from C: not so: %s (%s)\n", what, ptsched_tasks_error_text());
    failed++;
}

static int add_number(void *context, const struct ptsched_tasks_call *call)
{
    *(long *)call->addresses[0] += *(const int *)context;
    return call->stream || call->device != -1 ? -EINVAL : 0;
}

static int refuse(void *context, const struct ptsched_tasks_call *call)
{
    (void)context;
    (void)call;
    return -ENOSPC;
}

static void zero(void *copy, size_t bytes)
{
    memset(copy, 0, bytes);
}

static void add(void *to, const void *copy, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(long); i++)
        ((long *)to)[i] += ((const long *)copy)[i];
}

static void sums(struct ptsched_tasks *tasks, unsigned int mode)
{
    static const struct ptsched_tasks_combine sum = {zero, add};
    struct ptsched_tasks_state state = {.size = sizeof(state)};
    long total = 5;
    struct ptsched_tasks_access access = {
        .size = sizeof(access), .begin = &total, .row_bytes = sizeof(total), .mode = mode, .combine = &sum};
    struct ptsched_tasks_task task = {
        .size = sizeof(task), .on_host = add_number, .accesses = &access, .access_count = 1};

    for (int i = 1; i <= 100; i++) {
        task.context = &i;
        task.context_bytes = sizeof(i);
        check(!ptsched_tasks_add(tasks, &task), "a task is made");
    }
    check(!ptsched_tasks_wait_for(tasks, &access, PTSCHED_TASKS_FOREVER), "one may wait for a range");
    check(total == 5055, "the sum is right");
    /* A range may be ready before those that were to write it are counted as ended. */
    check(!ptsched_tasks_wait(tasks, PTSCHED_TASKS_FOREVER), "one may wait for all");
    check(!ptsched_tasks_get_state(tasks, &state) && state.made >= 100 && !state.live, "the state says so");
}

static void errors(struct ptsched_tasks *tasks)
{
    struct ptsched_tasks_task task = {.size = sizeof(task), .name = "refuses"};
    struct ptsched_tasks_access access = {.size = sizeof(access), .mode = 8};
    struct ptsched_tasks *none = NULL;
    struct ptsched_tasks_options options = {.size = 3};
    void *hold = NULL;

    check(ptsched_tasks_create(&options, &none) == -EINVAL && !none, "a size that cannot be is refused");
    check(ptsched_tasks_add(tasks, &task) == -EINVAL, "a task without a function is refused");
    check(strstr(ptsched_tasks_error_text(), "on_host") != NULL, "and it is said why");
    task.on_host = refuse;
    task.accesses = &access;
    task.access_count = 1;
    check(ptsched_tasks_add(tasks, &task) == -EINVAL, "a mode that there is not is refused");
    task.access_count = 0;
    check(!ptsched_tasks_add(tasks, &task), "a task is made");
    check(ptsched_tasks_wait(tasks, PTSCHED_TASKS_FOREVER) == -EIO, "it fails");
    check(strstr(ptsched_tasks_error_text(), "refuses") != NULL, "by its name");
    check(ptsched_tasks_hold(&hold) == -EINVAL, "there is no hold outside of tasks");
    check(ptsched_tasks_wait(NULL, 0) == -EINVAL, "NULL is refused");
}

int c_checks(void)
{
    const struct ptsched_tasks_options options = {.size = sizeof(options), .workers = 2};
    struct ptsched_tasks *tasks = NULL;
    void *array = NULL;

    failed = 0;
    check(!ptsched_tasks_create(&options, &tasks), "a runtime is made");
    if (!tasks)
        return failed;
    sums(tasks, PTSCHED_TASKS_INOUT);
    sums(tasks, PTSCHED_TASKS_COMMUTATIVE);
    sums(tasks, PTSCHED_TASKS_REDUCTION);
    errors(tasks);
    check(!ptsched_tasks_allocate(tasks, 4096, PTSCHED_TASKS_COPIED, &array) && array, "there is memory");
    check(!ptsched_tasks_keep_on_gpus(tasks, array), "it may stay on GPUs");
    check(ptsched_tasks_keep_on_gpus(tasks, (char *)array + 1) == -EINVAL, "only its begin is its name");
    check(ptsched_tasks_keep_on_gpus(tasks, NULL) == -EINVAL, "there is none at NULL");
    ptsched_tasks_free(tasks, array);
    check(!ptsched_tasks_wait(tasks, PTSCHED_TASKS_FOREVER), "nothing has failed since");
    ptsched_tasks_destroy(tasks);
    return failed;
}
