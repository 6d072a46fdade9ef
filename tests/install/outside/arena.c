// SPDX-License-Identifier: MIT
/* A block in an arena of the host's, in C. */
#include <ptsched/arena.h>
#include <stdio.h>

int main(void)
{
    const struct ptsched_arena_options options = {.size = sizeof(options), .bytes = 64 << 20};
    struct ptsched_arena_window *window = NULL;
    struct ptsched_arena *arena = NULL;
    int *number = NULL;

    if (ptsched_arena_open_window(&options, &window) ||
        ptsched_arena_create(window, PTSCHED_ARENA_HOST, 0, "numbers", &arena) ||
        !(number = ptsched_arena_malloc(arena, sizeof(*number))) ||
        ptsched_arena_acquire_ownership(window, NULL, PTSCHED_ARENA_HOST, NULL, 0)) {
        fprintf(stderr, "%s\n", ptsched_arena_error_text());
        ptsched_arena_destroy(arena);
        ptsched_arena_close_window(window);
        return 1;
    }
    *number = 42;
    printf("%d\n", *number);
    ptsched_arena_free(arena, number);
    ptsched_arena_destroy(arena);
    ptsched_arena_close_window(window);
    return 0;
}
