// SPDX-License-Identifier: MIT
/* The C interface, as a C program uses it. */
#include "tests/arena/call/c_checks.h"

#include <ptsched/arena/call.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("# %s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition, ptsched_arena_call_error_text());   \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Whether a call was refused with that, in these words. */
static int refused(int result, int error, const char *words)
{
    if (result == -error && strstr(ptsched_arena_call_error_text(), words))
        return 1;
    printf("# %d, %s\n", result, ptsched_arena_call_error_text());
    return 0;
}

static int deeper(void *context, const void *const *arguments, void *result)
{
    const int depth = *(const int *)arguments[0];

    *(unsigned int *)context += 1;
    if (depth > 5)
        return -ERANGE;
    *(int *)result = depth;
    return 0;
}

static void some_calls(struct ptsched_arena_calls *calls, unsigned long long *word)
{
    const struct ptsched_arena_call_how two = {.size = sizeof(two), .blocks = 2, .threads = 32};
    const int a = 20, b = 22;
    const unsigned long long value = 17;
    const void *const numbers[] = {&a, &b}, *const places[] = {&word, &value};
    struct ptsched_arena_function *add, *spread, *put;
    struct ptsched_arena_call *call;
    int sum = 0;

    CHECK(!ptsched_arena_call_find(calls, "add", "int (int, int)", NULL, &add));
    CHECK(!ptsched_arena_call_find(calls, "add", "int (int, int)", &two, &spread));
    CHECK(!ptsched_arena_call_find(calls, "put", "void (unsigned long *, unsigned long)", NULL, &put));
    CHECK(!ptsched_arena_call_run(add, numbers, &sum) && sum == 42);
    sum = 0;
    CHECK(!ptsched_arena_call_run(spread, numbers, &sum) && sum == 42);
    CHECK(!ptsched_arena_call_run(put, places, NULL) && *word == 17);
    sum = 0;
    CHECK(!ptsched_arena_call_start(add, numbers, &call));
    CHECK(!ptsched_arena_call_wait(call, PTSCHED_ARENA_CALL_FOREVER));
    CHECK(!ptsched_arena_call_get(call, &sum) && sum == 42);
    CHECK(!ptsched_arena_call_start(add, numbers, &call));
    ptsched_arena_call_drop(call);
    ptsched_arena_call_drop(NULL);
    CHECK(refused(ptsched_arena_call_run(add, numbers, NULL), EINVAL, "result is NULL"));
    CHECK(refused(ptsched_arena_call_run(add, NULL, &sum), EINVAL, "arguments is NULL"));
    CHECK(refused(ptsched_arena_call_run(NULL, numbers, &sum), EINVAL, "function is NULL"));
}

static void back(struct ptsched_arena_calls *calls)
{
    unsigned int called = 0, number;
    const int few = 3, many = 7;
    const void *const right[] = {&few}, *const wrong[] = {&many};
    struct ptsched_arena_function *function;
    int depth = 0;

    CHECK(!ptsched_arena_call_add(calls, "go_deeper", "int (int)", deeper, &called, 1));
    CHECK(!ptsched_arena_call_find(calls, "deeper", "int (int)", NULL, &function));
    CHECK(!ptsched_arena_call_run(function, right, &depth) && depth == 3 && called == 1);
    CHECK(refused(ptsched_arena_call_run(function, wrong, &depth), EIO, "'go_deeper', which 'deeper' has called"));
    CHECK(called == 2);
    CHECK(!ptsched_arena_call_number(calls, "go_deeper", "int (int)", &number) && number);
    CHECK(refused(ptsched_arena_call_number(calls, "nobody", "int (int)", &number), EINVAL, "'nobody'"));
}

static void refusals(struct ptsched_arena_calls *calls, const struct ptsched_arena_call_options *options)
{
    const struct ptsched_arena_call_how third = {.size = sizeof(third), .gpu = 2};
    struct ptsched_arena_call_options other = *options;
    struct ptsched_arena_function *function;
    struct ptsched_arena_calls *none;

    CHECK(refused(ptsched_arena_call_find(calls, "add", "int(int, int)", NULL, &function), EINVAL, "no signature"));
    CHECK(refused(ptsched_arena_call_find(calls, "add", "int (int, struct x)", NULL, &function), EINVAL,
                  "'struct x' is no type"));
    CHECK(refused(ptsched_arena_call_find(calls, "add", "int (int)", NULL, &function), EINVAL, "int (int, int)"));
    CHECK(refused(ptsched_arena_call_find(calls, "add", "int (int, int)", &third, &function), EINVAL, "gpu is 2"));
    CHECK(refused(ptsched_arena_call_add(calls, "x", "void ()", NULL, NULL, 0), EINVAL, "function is NULL"));
    other.line_slots = 5;
    CHECK(refused(ptsched_arena_call_create(&other, &none), EINVAL, "line_slots is 5"));
    other.kernel = NULL;
    CHECK(refused(ptsched_arena_call_create(&other, &none), EINVAL, "kernel is NULL"));
    other.size = 3;
    CHECK(refused(ptsched_arena_call_create(&other, &none), EINVAL, "its size is 3"));
}

int c_checks(const char *module, unsigned long long *word)
{
    const struct ptsched_pool_kernel kernel = {.size = sizeof(kernel), .name = "kernels", .module = module};
    const struct ptsched_arena_call_options options = {
        .size = sizeof(options), .kernel = &kernel, .threads = 32, .blocks = 2};
    struct ptsched_arena_calls *calls;

    failures = 0;
    CHECK(!ptsched_arena_call_create(&options, &calls));
    if (failures)
        return failures;
    some_calls(calls, word);
    back(calls);
    refusals(calls, &options);
    ptsched_arena_call_destroy(calls);
    ptsched_arena_call_destroy(NULL);
    return failures;
}
