/* SPDX-License-Identifier: MIT */
/* Opens a graph and closes it again. */
#include <ptsched/ptask.h>
#include <stdio.h>

int main(void)
{
    struct ptask_graph *graph;

    if (ptask_open_graph(PTASK_MODE_FIFO, &graph)) {
        fprintf(stderr, "%s\n", ptask_error_text());
        return 1;
    }
    ptask_close_graph(graph);
    printf("42\n");
    return 0;
}
