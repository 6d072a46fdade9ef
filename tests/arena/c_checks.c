// SPDX-License-Identifier: MIT
#include "tests/arena/c_checks.h"

#include <ptsched/arena.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void check(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "from C: not so: %s (%s)\n", what, ptsched_arena_error_text());
    failed++;
}

static void check_error(int result, int error, const char *word, const char *what)
{
    check(result == -error && strstr(ptsched_arena_error_text(), word) != NULL, what);
}

static void blocks(struct ptsched_arena *arena)
{
    char *block = ptsched_arena_malloc(arena, 100), *aligned = ptsched_arena_aligned_alloc(arena, 4096, 10);

    check(block && aligned && (uintptr_t)aligned % 4096 == 0, "blocks are allocated");
    check_error(ptsched_arena_free(arena, block + 1), EINVAL, "1 bytes behind", "the begin is to be given back");
    check(ptsched_arena_free(arena, block) == 0, "a block is given back");
    check_error(ptsched_arena_free(arena, block), EINVAL, "twice", "a block is given back once");
    check_error(ptsched_arena_free(arena, &failed), EINVAL, "private", "private memory is not given back");
    check(ptsched_arena_free(arena, aligned) == 0 && ptsched_arena_free(arena, NULL) == 0, "all is given back");
    check(!ptsched_arena_aligned_alloc(arena, 3, 10) && strstr(ptsched_arena_error_text(), "power of two"),
          "alignments are powers of two");
    check(!ptsched_arena_malloc(NULL, 1) && strstr(ptsched_arena_error_text(), "arena is NULL"), "there is an arena");
}

static void owners(struct ptsched_arena_window *window, struct ptsched_arena *arena)
{
    struct ptsched_arena_state state = {.size = sizeof(state)};
    unsigned int *words = ptsched_arena_malloc(arena, 4 * sizeof(*words));
    const struct ptsched_arena_range first = {words, sizeof(*words)}, other = {&state, sizeof(state)};

    words[0] = 5;
    check(ptsched_arena_acquire_ownership(window, arena, 0, NULL, 0) == 0 && ptsched_arena_owner(arena) == 0,
          "a GPU owns it");
    check(ptsched_arena_acquire_ownership(window, NULL, PTSCHED_ARENA_HOST, &first, 1) == 0 &&
              ptsched_arena_owner(arena) == PTSCHED_ARENA_HOST,
          "the host owns all");
    check(words[0] == 5, "what was written is there");
    check(ptsched_arena_release_ownership(window, NULL, NULL, 0) == 0 &&
              ptsched_arena_owner(arena) == PTSCHED_ARENA_SHARED,
          "nobody owns it");
    check(ptsched_arena_release(window, arena, PTSCHED_ARENA_HOST, NULL, 0) == 0 &&
              ptsched_arena_acquire(window, NULL, 0) == 0 && ptsched_arena_access(window, arena, 0) == 0,
          "it is released and acquired");
    check(ptsched_arena_touch(window, words, sizeof(*words), 1) == 0, "it is touched");
    check_error(ptsched_arena_acquire(window, arena, 90), EINVAL, "GPU 90", "there is no such GPU");
    check_error(ptsched_arena_acquire(window, arena, -5), EINVAL, "PTSCHED_ARENA_HOST", "there is no such side");
    check_error(ptsched_arena_acquire(NULL, arena, 0), EINVAL, "window is NULL", "there is a window");
    check_error(ptsched_arena_release(window, arena, 0, NULL, 3), EINVAL, "writes is NULL", "writes are there");
    check_error(ptsched_arena_release(window, arena, 0, &other, 1), EINVAL, "no page", "writes are in the arena");
    check(ptsched_arena_get_state(window, &state) == 0 && state.arenas == 1 && state.blocks == 1 && state.to_gpus > 0,
          "the state says so");
    state.size = 8;
    check_error(ptsched_arena_get_state(window, &state), EINVAL, "sizeof", "the state has a size");
    check(ptsched_arena_free(arena, words) == 0, "it is given back");
}

int c_checks(void)
{
    struct ptsched_arena_options options = {.size = sizeof(options), .bytes = 64 << 20};
    struct ptsched_arena_window *window = NULL;
    struct ptsched_arena *arena = NULL;

    options.memory = 7;
    check_error(ptsched_arena_open_window(&options, &window), EINVAL, "memory is 7", "memory is of two kinds");
    options.memory = PTSCHED_ARENA_COPIES;
    if (ptsched_arena_open_window(&options, &window) ||
        ptsched_arena_create(window, PTSCHED_ARENA_HOST, 1000000, "from C", &arena)) {
        check(0, "a window with an arena");
    } else {
        check(ptsched_arena_owner(arena) == PTSCHED_ARENA_HOST, "the host owns it");
        blocks(arena);
        owners(window, arena);
        check(!ptsched_arena_contains(window, &options), "private memory is not the window's");
    }
    ptsched_arena_destroy(arena);
    ptsched_arena_close_window(window);
    ptsched_arena_destroy(NULL);
    ptsched_arena_close_window(NULL);
    return failed;
}
