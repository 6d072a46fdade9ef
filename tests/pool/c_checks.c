// SPDX-License-Identifier: MIT
/* The C interface, as a C program uses it. */
#include "tests/pool/c_checks.h"

#include "tests/pool/tasks.h"

#include <errno.h>
#include <ptsched/pool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("# %s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition, ptsched_pool_error_text());         \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

enum { forever = PTSCHED_POOL_FOREVER };
/* Kinds of the kernel "mixed". */
enum { square_kind, reverse_kind, trap_kind = 4 };
static const size_t mixed_bytes[] = {sizeof(struct Square), sizeof(struct Reverse), sizeof(struct Wait),
                                     sizeof(struct Add), sizeof(struct Trap)};

/* Whether a call was refused with that, in these words. */
static int refused(int result, int error, const char *words)
{
    if (result == -error && strstr(ptsched_pool_error_text(), words))
        return 1;
    printf("# %d, %s\n", result, ptsched_pool_error_text());
    return 0;
}

/* What a pool is made of, for a test to change. */
struct plan {
    struct ptsched_pool_kernel kernel;
    struct ptsched_pool_options options;
    unsigned int gpu;
};

/* On the first GPU, with few blocks: they share the processors of this machine. */
static void make_plan(struct plan *plan, const char *module, const char *kernel)
{
    *plan = (struct plan){.kernel = {.size = sizeof(plan->kernel), .name = kernel, .module = module},
                          .options = {.size = sizeof(plan->options), .threads = 32, .blocks = 2, .device_count = 1}};
    plan->options.kernel = &plan->kernel;
    plan->options.devices = &plan->gpu;
}

static int create_squares(const struct plan *plan, struct ptsched_pool **pool)
{
    return ptsched_pool_create(&plan->options, mixed_bytes, 1, pool);
}

static struct Square square_of(double value, unsigned long long id)
{
    const struct Square square = {value, 0, id};
    return square;
}

static void several_kinds(const char *module)
{
    const struct ptsched_pool_how second = {.size = sizeof(second), .output = 1};
    struct Square square = square_of(5, 1);
    struct ptsched_pool_state state = {.size = sizeof(state)};
    struct Reverse numbers;
    struct ptsched_pool *pool;
    struct plan plan;
    unsigned int kind;
    size_t count = 0;

    make_plan(&plan, module, "mixed");
    plan.options.outputs = 2;
    CHECK(!ptsched_pool_create(&plan.options, mixed_bytes, 5, &pool));
    for (unsigned int i = 0; i < 64; i++)
        numbers.values[i] = i;
    CHECK(!ptsched_pool_push(pool, reverse_kind, &numbers, &second, forever));
    CHECK(!ptsched_pool_push(pool, square_kind, &square, NULL, 0));
    CHECK(!ptsched_pool_wait(pool, forever));
    CHECK(!ptsched_pool_unfinished(pool, 1, &count) && count == 1);
    CHECK(!ptsched_pool_pop(pool, 1, &numbers, sizeof(numbers), &kind, 0));
    CHECK(kind == reverse_kind);
    for (unsigned int i = 0; i < 64; i++)
        CHECK(numbers.values[i] == 63 - i);
    CHECK(!ptsched_pool_pop(pool, 0, &numbers, sizeof(numbers), &kind, 0));
    memcpy(&square, &numbers, sizeof(square));
    CHECK(kind == square_kind && square.result == 25);
    CHECK(refused(ptsched_pool_pop(pool, 0, &numbers, sizeof(numbers), NULL, 0), ETIMEDOUT, "time"));
    CHECK(!ptsched_pool_unfinished(pool, 1, &count) && count == 0);
    CHECK(!ptsched_pool_get_state(pool, &state));
    CHECK(state.on_devices == 2 && state.on_host == 0 && state.launches == 1);
    ptsched_pool_destroy(pool);
}

static void many_at_once(const char *module)
{
    enum { count = 100 };
    struct Square tasks[count], back[count];
    size_t pushed = 0, popped, all = 0;
    struct ptsched_pool *pool;
    struct plan plan;
    double sum = 0;

    make_plan(&plan, module, "squares");
    CHECK(!create_squares(&plan, &pool));
    for (int i = 0; i < count; i++)
        tasks[i] = square_of(i, (unsigned long long)i);
    CHECK(!ptsched_pool_push_many(pool, 0, tasks, count, NULL, forever, &pushed) && pushed == count);
    CHECK(!ptsched_pool_close(pool));
    while (!ptsched_pool_pop_many(pool, 0, back, sizeof(back[0]), NULL, count, forever, &popped)) {
        for (size_t i = 0; i < popped; i++)
            sum += back[i].result;
        all += popped;
    }
    CHECK(all == count && popped == 0 && sum == 328350);
    CHECK(refused(ptsched_pool_pop(pool, 0, back, sizeof(back[0]), NULL, forever), ENODATA, "closed"));
    CHECK(refused(ptsched_pool_push(pool, 0, tasks, NULL, forever), EPIPE, "closed"));
    ptsched_pool_destroy(pool);
}

/* From memory, and as text where there is a compiler. */
static void other_places(const char *module, const char *source, const char *const *headers, const char *const *texts,
                         int count)
{
    static const char *const options[] = {"-std=c++20"};
    static char image[1 << 22];
    struct ptsched_pool_header all[4] = {{0, NULL, NULL}};
    struct Square square = square_of(4, 0);
    FILE *file = fopen(module, "rb");
    struct plan plan;

    for (int from_source = 0; from_source < 2; from_source++) {
        struct ptsched_pool *pool = NULL;
        make_plan(&plan, NULL, "squares");
        if (from_source) {
            for (int i = 0; i < count && i < 4; i++)
                all[i] = (struct ptsched_pool_header){sizeof(all[0]), headers[i], texts[i]};
            plan.kernel.cuda_source = source;
            plan.kernel.options = options;
            plan.kernel.option_count = 1;
            plan.kernel.headers = all;
            plan.kernel.header_count = (size_t)count;
        } else {
            plan.kernel.image = image;
            plan.kernel.image_bytes = file ? fread(image, 1, sizeof(image), file) : 0;
        }
        CHECK(!create_squares(&plan, &pool));
        CHECK(!ptsched_pool_push(pool, 0, &square, NULL, forever));
        CHECK(!ptsched_pool_pop(pool, 0, &square, sizeof(square), NULL, forever) && square.result == 16);
        ptsched_pool_destroy(pool);
    }
    if (file)
        fclose(file);
}

/* By a value that the device does not make; fails for one that is negative. */
static int negative_square(void *context, void *task)
{
    struct Square *square = task;

    square->result = -square->value * square->value;
    *(double *)context = square->value;
    return square->value < 0 ? -EDOM : 0;
}

static void on_the_host(const char *module)
{
    const struct ptsched_pool_how on_host = {.size = sizeof(on_host), .where = PTSCHED_POOL_ON_HOST};
    struct ptsched_pool_options options = {.size = sizeof(options), .host_threads = 1};
    struct Square square = square_of(3, 0);
    struct ptsched_pool *pool;
    struct plan plan;
    double last = 0;

    CHECK(!ptsched_pool_create(&options, mixed_bytes, 1, &pool));
    CHECK(refused(ptsched_pool_push(pool, 0, &square, &on_host, forever), EINVAL, "no function for the host"));
    CHECK(!ptsched_pool_on_host(pool, 0, negative_square, &last));
    CHECK(!ptsched_pool_push(pool, 0, &square, &on_host, forever));
    CHECK(!ptsched_pool_pop(pool, 0, &square, sizeof(square), NULL, forever));
    CHECK(square.result == -9 && last == 3);
    CHECK(refused(ptsched_pool_push(pool, 0, &square, NULL, forever), EINVAL, "no device"));
    square.value = -1;
    CHECK(!ptsched_pool_push(pool, 0, &square, &on_host, forever));
    CHECK(refused(ptsched_pool_pop(pool, 0, &square, sizeof(square), NULL, forever), EIO, strerror(EDOM)));
    CHECK(refused(ptsched_pool_push(pool, 0, &square, &on_host, forever), EIO, "task 2 of output 0"));
    CHECK(refused(ptsched_pool_wait(pool, forever), EIO, "on the host"));
    ptsched_pool_destroy(pool);
    make_plan(&plan, module, "squares");
    CHECK(!create_squares(&plan, &pool));
    CHECK(refused(ptsched_pool_on_host(pool, 0, negative_square, &last), EINVAL, "host_threads is 0"));
    ptsched_pool_destroy(pool);
}

static void stopped_and_full(const char *module)
{
    const struct ptsched_pool_how on_host = {.size = sizeof(on_host), .where = PTSCHED_POOL_ON_HOST};
    struct Square tasks[9];
    struct ptsched_pool *pool;
    struct plan plan;
    size_t pushed = 0;
    struct Square square = square_of(1, 0);

    /* Results have room for two, and one more is on its way; so has what waits. */
    make_plan(&plan, module, "squares");
    plan.options.capacity = 2;
    plan.options.blocks = plan.options.depth = 1;
    CHECK(!create_squares(&plan, &pool));
    for (int i = 0; i < 9; i++)
        tasks[i] = square;
    CHECK(refused(ptsched_pool_push_many(pool, 0, tasks, 9, NULL, 20000000, &pushed), ETIMEDOUT, "time"));
    CHECK(pushed >= 2 && pushed < 9);
    CHECK(refused(ptsched_pool_wait(pool, 1), ETIMEDOUT, "time"));
    CHECK(!ptsched_pool_stop(pool));
    CHECK(refused(ptsched_pool_push(pool, 0, &square, NULL, forever), EPIPE, "stopped"));
    CHECK(refused(ptsched_pool_push(pool, 0, &square, &on_host, forever), EINVAL, "no function for the host"));
    CHECK(refused(ptsched_pool_wait(pool, forever), EPIPE, "stopped"));
    while (!ptsched_pool_pop(pool, 0, &square, sizeof(square), NULL, forever))
        ;
    CHECK(refused(ptsched_pool_pop(pool, 0, &square, sizeof(square), NULL, forever), EPIPE, "stopped"));
    ptsched_pool_destroy(pool);
}

/* Nothing is where something has to be. */
static void null_pointers(const char *module)
{
    struct Square square = square_of(1, 0);
    struct ptsched_pool *pool;
    struct plan plan;
    size_t count;

    make_plan(&plan, module, "squares");
    CHECK(refused(ptsched_pool_create(NULL, mixed_bytes, 1, &pool), EINVAL, "options is NULL"));
    CHECK(refused(ptsched_pool_create(&plan.options, NULL, 1, &pool), EINVAL, "task_bytes is NULL"));
    CHECK(refused(create_squares(&plan, NULL), EINVAL, "pool is NULL"));
    CHECK(refused(ptsched_pool_on_host(NULL, 0, negative_square, NULL), EINVAL, "pool is NULL"));
    CHECK(refused(ptsched_pool_push(NULL, 0, &square, NULL, 0), EINVAL, "pool is NULL"));
    CHECK(refused(ptsched_pool_pop(NULL, 0, &square, sizeof(square), NULL, 0), EINVAL, "pool is NULL"));
    CHECK(refused(ptsched_pool_unfinished(NULL, 0, &count), EINVAL, "pool is NULL"));
    CHECK(refused(ptsched_pool_close(NULL), EINVAL, "pool is NULL"));
    CHECK(refused(ptsched_pool_stop(NULL), EINVAL, "pool is NULL"));
    CHECK(refused(ptsched_pool_wait(NULL, 0), EINVAL, "pool is NULL"));
    ptsched_pool_destroy(NULL);
    CHECK(!create_squares(&plan, &pool));
    CHECK(refused(ptsched_pool_on_host(pool, 0, NULL, NULL), EINVAL, "function is NULL"));
    CHECK(refused(ptsched_pool_push(pool, 0, NULL, NULL, 0), EINVAL, "tasks is NULL"));
    CHECK(refused(ptsched_pool_pop(pool, 0, NULL, sizeof(square), NULL, 0), EINVAL, "tasks is NULL"));
    CHECK(refused(ptsched_pool_pop_many(pool, 0, &square, sizeof(square), NULL, 1, 0, NULL), EINVAL, "popped is NULL"));
    CHECK(refused(ptsched_pool_unfinished(pool, 0, NULL), EINVAL, "count is NULL"));
    CHECK(refused(ptsched_pool_get_state(pool, NULL), EINVAL, "state is NULL"));
    plan.options.devices = NULL;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "devices is NULL"));
    ptsched_pool_destroy(pool);
}

/* Errors say what would be right. */
static void wrong_numbers(const char *module)
{
    struct ptsched_pool_how how = {.size = sizeof(how)};
    const size_t too_small = 8, too_large = 257;
    struct Square square = square_of(1, 0);
    struct ptsched_pool *pool;
    struct plan plan;
    size_t count;

    make_plan(&plan, module, "squares");
    CHECK(
        refused(ptsched_pool_create(&plan.options, &too_small, 1, &pool), EINVAL, "kind 0 is 8, and can be 16 to 256"));
    CHECK(refused(ptsched_pool_create(&plan.options, &too_large, 1, &pool), EINVAL, "257, and can be 16 to 256"));
    CHECK(refused(ptsched_pool_create(&plan.options, &too_small, 0, &pool), EINVAL, "kinds of task is 0"));
    CHECK(!create_squares(&plan, &pool));
    CHECK(refused(ptsched_pool_push(pool, 1, &square, NULL, 0), EINVAL, "kind is 1, and the pool has 1"));
    CHECK(refused(ptsched_pool_on_host(pool, 1, negative_square, NULL), EINVAL, "kind is 1"));
    CHECK(refused(ptsched_pool_pop(pool, 0, &square, 16, NULL, 0), EINVAL,
                  "bytes is 16, and a task of this pool may have 24"));
    CHECK(refused(ptsched_pool_pop(pool, 7, &square, sizeof(square), NULL, 0), EINVAL,
                  "output is 7, and the pool has 1"));
    CHECK(refused(ptsched_pool_pop_many(pool, 0, &square, sizeof(square), NULL, 0, 0, &count), EINVAL, "count is 0"));
    CHECK(refused(ptsched_pool_unfinished(pool, 1, &count), EINVAL, "output is 1"));
    how.where = 3;
    CHECK(refused(ptsched_pool_push(pool, 0, &square, &how, 0), EINVAL, "where is 3, and can be 0 to 2"));
    how.where = 0;
    how.device = 2;
    CHECK(refused(ptsched_pool_push(pool, 0, &square, &how, 0), EINVAL, "device is 1, and the pool has 1"));
    how.device = 0;
    how.priority = 1;
    CHECK(refused(ptsched_pool_push(pool, 0, &square, &how, 0), EINVAL, "priority is 1"));
    ptsched_pool_destroy(pool);
    plan.options.attach = 3;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "attach is 3, and can be 0 to 2"));
    plan.options.attach = 0;
    plan.options.threads = 48;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "say 64"));
    plan.options.threads = 0;
    plan.gpu = 99;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "GPU 99, and there are"));
    plan.gpu = 0;
    plan.options.device_count = 0;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "device_count is 0"));
}

static void wrong_kernels(const char *module)
{
    struct ptsched_pool *pool;
    struct plan plan;

    make_plan(&plan, module, NULL);
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "name of the kernel is NULL"));
    make_plan(&plan, NULL, "squares");
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "one of module, image and cuda_source, and has none"));
    make_plan(&plan, module, "squares");
    plan.kernel.image = module;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "has module and image"));
    make_plan(&plan, module, "cubes");
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "cubes"));
    make_plan(&plan, module, "squares");
    plan.options.kernel = NULL;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "no kernel"));
}

/* Programs that were built with another header. */
static void other_sizes(const char *module)
{
    struct {
        struct ptsched_pool_options options;
        unsigned int unknown;
    } grown;
    struct {
        struct ptsched_pool_state state;
        unsigned long long unknown;
    } state = {{.size = sizeof(state)}, 7};
    struct ptsched_pool_how how = {.size = 4};
    struct Square square = square_of(1, 0);
    struct ptsched_pool *pool;
    struct plan plan;

    make_plan(&plan, module, "squares");
    plan.options.size = 0;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "sizeof(struct ptsched_pool_options)"));
    make_plan(&plan, module, "squares");
    plan.kernel.size = 8;
    CHECK(refused(create_squares(&plan, &pool), EINVAL, "sizeof(struct ptsched_pool_kernel)"));
    make_plan(&plan, module, "squares");
    memset(&grown, 0, sizeof(grown));
    grown.options = plan.options;
    grown.options.size = sizeof(grown);
    grown.unknown = 1;
    CHECK(refused(ptsched_pool_create(&grown.options, mixed_bytes, 1, &pool), EINVAL, "a newer one would do"));
    grown.unknown = 0;
    CHECK(!ptsched_pool_create(&grown.options, mixed_bytes, 1, &pool));
    CHECK(refused(ptsched_pool_push(pool, 0, &square, &how, 0), EINVAL, "sizeof(struct ptsched_pool_how)"));
    CHECK(!ptsched_pool_get_state(pool, &state.state));
    CHECK(state.unknown == 0 && state.state.size == sizeof(state) && state.state.on_devices == 0);
    state.state.size = 8;
    CHECK(refused(ptsched_pool_get_state(pool, &state.state), EINVAL, "sizeof(struct ptsched_pool_state)"));
    ptsched_pool_destroy(pool);
}

int c_fault_checks(const char *module)
{
    struct ptsched_pool *pool;
    struct Trap trap = {0, 0};
    struct Reverse back;
    struct plan plan;

    make_plan(&plan, module, "mixed");
    CHECK(!ptsched_pool_create(&plan.options, mixed_bytes, 5, &pool));
    CHECK(!ptsched_pool_push(pool, trap_kind, &trap, NULL, forever));
    CHECK(refused(ptsched_pool_pop(pool, 0, &back, sizeof(back), NULL, forever), EIO, "task 1 of output 0, of kind 4"));
    CHECK(refused(ptsched_pool_push(pool, trap_kind, &trap, NULL, forever), EIO, "a device has failed"));
    ptsched_pool_destroy(pool);
    return failures;
}

int c_checks(const char *module, const char *source, const char *const *headers, const char *const *texts, int count)
{
    several_kinds(module);
    many_at_once(module);
    other_places(module, source, headers, texts, count);
    on_the_host(module);
    stopped_and_full(module);
    null_pointers(module);
    wrong_numbers(module);
    wrong_kernels(module);
    other_sizes(module);
    return failures;
}
