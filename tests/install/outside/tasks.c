// SPDX-License-Identifier: MIT
/* Two tasks of the host, the second of which needs the first, in C. */
#include <ptsched/tasks.h>
#include <stdio.h>

static int set(void *context, const struct ptsched_tasks_call *call)
{
    *(int *)call->addresses[0] = *(const int *)context;
    return 0;
}

static int twice(void *context, const struct ptsched_tasks_call *call)
{
    (void)context;
    *(int *)call->addresses[1] = 2 * *(const int *)call->addresses[0];
    return 0;
}

int main(void)
{
    const struct ptsched_tasks_options options = {.size = sizeof(options), .workers = 2};
    int x = 0, y = 0, number = 21;
    const struct ptsched_tasks_access writes_x = {
        .size = sizeof(writes_x), .begin = &x, .row_bytes = sizeof(x), .mode = PTSCHED_TASKS_OUT};
    const struct ptsched_tasks_access x_to_y[] = {
        {.size = sizeof(x_to_y[0]), .begin = &x, .row_bytes = sizeof(x), .mode = PTSCHED_TASKS_IN},
        {.size = sizeof(x_to_y[0]), .begin = &y, .row_bytes = sizeof(y), .mode = PTSCHED_TASKS_OUT},
    };
    const struct ptsched_tasks_task first = {.size = sizeof(first),
                                             .on_host = set,
                                             .context = &number,
                                             .context_bytes = sizeof(number),
                                             .accesses = &writes_x,
                                             .access_count = 1};
    const struct ptsched_tasks_task second = {
        .size = sizeof(second), .on_host = twice, .accesses = x_to_y, .access_count = 2, .name = "twice"};
    struct ptsched_tasks *tasks = NULL;

    if (ptsched_tasks_create(&options, &tasks) || ptsched_tasks_add(tasks, &first) ||
        ptsched_tasks_add(tasks, &second) || ptsched_tasks_wait(tasks, PTSCHED_TASKS_FOREVER)) {
        fprintf(stderr, "%s\n", ptsched_tasks_error_text());
        ptsched_tasks_destroy(tasks);
        return 1;
    }
    ptsched_tasks_destroy(tasks);
    printf("%d\n", y);
    return 0;
}
