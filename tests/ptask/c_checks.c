// SPDX-License-Identifier: MIT
// The C interface, as a C program uses it.
#include "tests/ptask/c_checks.h"

#include "libptsched/cuda/cuda_abi.h"

#include <errno.h>
#include <poll.h>
#include <ptsched/ptask.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("# %s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition, ptask_error_text());                \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Whether a call was refused with that, in these words. */
static int refused(int result, int error, const char *words)
{
    if (result == -error && strstr(ptask_error_text(), words))
        return 1;
    printf("# %d, %s\n", result, ptask_error_text());
    return 0;
}

static int pushed(struct ptask_channel *channel, const void *content, size_t bytes)
{
    struct ptask_datablock *block;
    int error = ptask_open_datablock(content, bytes, &block);

    if (error)
        return error;
    error = ptask_push(channel, block, PTASK_FOREVER);
    if (error)
        ptask_put_datablock(block);
    return error;
}

/* The first number of what comes there. */
static float first_pulled(struct ptask_channel *channel)
{
    struct ptask_datablock *block = NULL;
    const void *content = NULL;
    size_t bytes = 0;
    float first = -1;

    CHECK(!ptask_pull(channel, &block, PTASK_FOREVER));
    if (!block)
        return first;
    CHECK(!ptask_read_datablock(block, &content, &bytes));
    if (content && bytes >= sizeof(first))
        memcpy(&first, content, sizeof(first));
    ptask_put_datablock(block);
    return first;
}

/* A x B x C: ports 0 to 2 are the matrices, 3 is their size. */
static void open_product(struct ptask_graph *graph, const char *name, const char *module, struct ptask_port *ports[4],
                         struct ptask **task)
{
    static const char *const names[] = {"a", "b", "c"};
    const unsigned int n = 4;
    const size_t square[3] = {n, n, 1}, one[3] = {1, 1, 1};
    const struct ptask_code code = {.size = sizeof(struct ptask_code), .module = module, .kernel = "matmul"};
    const struct ptask_geometry geometry = {sizeof(geometry), {1, 1, 1}, {n, n, 1}, 0};
    struct ptask_template *matrix, *size;

    CHECK(!ptask_open_template(graph, square, sizeof(float), PTASK_FIXED, PTASK_GLOBAL, &matrix));
    CHECK(!ptask_open_template(graph, one, sizeof(n), PTASK_FIXED, PTASK_BY_VALUE, &size));
    for (int i = 0; i < 3; i++)
        CHECK(!ptask_open_port(graph, names[i], i < 2 ? PTASK_INPUT : PTASK_OUTPUT, matrix, &ports[i]));
    CHECK(!ptask_open_port(graph, "n", PTASK_STICKY, size, &ports[3]));
    CHECK(!ptask_set_initial(ports[3], &n, sizeof(n)));
    CHECK(!ptask_open_ptask(graph, name, &code, ports, 4, task));
    CHECK(!ptask_set_geometry(*task, &geometry));
    CHECK(!ptask_set_ptask_prio(*task, 2, 1));
}

/* Two products, one after the other, and what both tests of them push and pull. */
struct chain {
    struct ptask_graph *graph;
    struct ptask_port *ab[4], *abc[4];
    struct ptask_channel *a, *b, *product;
    float ones[16];
};

static void open_chain(struct chain *chain, const char *module, const char *second_name)
{
    struct ptask *first, *second;
    struct ptask_channel *between;

    for (int i = 0; i < 16; i++)
        chain->ones[i] = 1;
    CHECK(!ptask_open_graph(PTASK_MODE_PRIORITY, &chain->graph));
    open_product(chain->graph, "AxB", module, chain->ab, &first);
    open_product(chain->graph, second_name, module, chain->abc, &second);
    CHECK(!ptask_open_channel(chain->graph, NULL, chain->ab[0], 2, &chain->a));
    CHECK(!ptask_open_channel(chain->graph, NULL, chain->ab[1], 2, &chain->b));
    CHECK(!ptask_open_channel(chain->graph, chain->ab[2], chain->abc[0], 2, &between));
    CHECK(!ptask_open_channel(chain->graph, chain->abc[2], NULL, 2, &chain->product));
}

static void products(const char *module)
{
    struct chain chain;
    struct ptask_channel *c;

    open_chain(&chain, module, "ABxC");
    CHECK(!ptask_open_channel(chain.graph, NULL, chain.abc[1], 2, &c));
    CHECK(!ptask_run_graph(chain.graph));
    for (int i = 0; i < 3; i++) {
        CHECK(!pushed(chain.a, chain.ones, sizeof(chain.ones)));
        CHECK(!pushed(chain.b, chain.ones, sizeof(chain.ones)));
        CHECK(!pushed(c, chain.ones, sizeof(chain.ones)));
        CHECK(first_pulled(chain.product) == 16);
    }
    CHECK(refused(pushed(chain.a, chain.ones, 4), EINVAL, "AxB.a"));
    CHECK(refused(ptask_push(chain.product, NULL, 0), EINVAL, "source"));
    CHECK(refused(ptask_pull(chain.product, &(struct ptask_datablock *){NULL}, 0), ETIMEDOUT, "time"));
    CHECK(!ptask_terminate_graph(chain.graph));
    CHECK(refused(pushed(chain.a, chain.ones, sizeof(chain.ones)), EPIPE, "terminated"));
    ptask_close_graph(chain.graph);
}

static void one_input_of_two_ports(const char *module)
{
    struct chain chain;

    open_chain(&chain, module, "ABxB");
    CHECK(refused(ptask_extend_channel(chain.product, chain.abc[1], 2), EINVAL, "from the program"));
    CHECK(refused(ptask_extend_channel(chain.b, chain.abc[0], 2), EINVAL, "has a channel already"));
    CHECK(!ptask_extend_channel(chain.b, chain.abc[1], 2));
    CHECK(!ptask_run_graph(chain.graph));
    for (int i = 0; i < 3; i++) {
        CHECK(!pushed(chain.a, chain.ones, sizeof(chain.ones)));
        CHECK(!pushed(chain.b, chain.ones, sizeof(chain.ones)));
        CHECK(first_pulled(chain.product) == 16);
    }
    CHECK(!ptask_terminate_graph(chain.graph));
    ptask_close_graph(chain.graph);
}

/* y = by * x; ports are x, y, by. */
static const char opencl_scale[] = "__kernel void scale(__global const float *x, __global float *y, float by)\n"
                                   "{\n"
                                   "    y[get_global_id(0)] = by * x[get_global_id(0)];\n"
                                   "}\n";
static const char cuda_scale[] = "__global__ void scale(const float *x, float *y, float by)\n"
                                 "{\n"
                                 "    y[threadIdx.x] = by * x[threadIdx.x];\n"
                                 "}\n";

static void open_scale_ports(struct ptask_graph *graph, struct ptask_port *ports[3])
{
    const size_t four[3] = {4, 1, 1}, one[3] = {1, 1, 1};
    const float by = 3;
    struct ptask_template *numbers, *number;

    CHECK(!ptask_open_template(graph, four, sizeof(float), PTASK_FIXED, PTASK_GLOBAL, &numbers));
    CHECK(!ptask_open_template(graph, one, sizeof(by), PTASK_FIXED, PTASK_BY_VALUE, &number));
    CHECK(!ptask_open_port(graph, "x", PTASK_INPUT, numbers, &ports[0]));
    CHECK(!ptask_open_port(graph, "y", PTASK_OUTPUT, numbers, &ports[1]));
    CHECK(!ptask_open_port(graph, "by", PTASK_STICKY, number, &ports[2]));
    CHECK(!ptask_set_initial(ports[2], &by, sizeof(by)));
}

/* Of a graph that has one task with such ports. */
static void expect_scaled(struct ptask_graph *graph, struct ptask_port *const ports[3], float expected)
{
    const float x[4] = {5, 6, 7, 8};
    struct ptask_channel *in, *out;

    CHECK(!ptask_open_channel(graph, NULL, ports[0], 1, &in));
    CHECK(!ptask_open_channel(graph, ports[1], NULL, 1, &out));
    CHECK(!ptask_run_graph(graph));
    for (int i = 0; i < 3; i++) {
        CHECK(!pushed(in, x, sizeof(x)));
        CHECK(first_pulled(out) == expected);
    }
    ptask_close_graph(graph);
}

static void opencl_source(void)
{
    const struct ptask_geometry geometry = {sizeof(geometry), {1, 1, 1}, {4, 1, 1}, 0};
    const struct ptask_code code = {
        .size = sizeof(struct ptask_code), .opencl_source = opencl_scale, .kernel = "scale", .geometry = &geometry};
    struct ptask_graph *graph;
    struct ptask_port *ports[3];
    struct ptask *task;

    CHECK(!ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph));
    open_scale_ports(graph, ports);
    CHECK(!ptask_open_ptask(graph, "scale", &code, ports, 3, &task));
    expect_scaled(graph, ports, 15);
}

/* y = x, but for the first, which is "by"; on the GPU that @context says. */
static int copy_to_stream(void *context, struct ptask_stream_call *call)
{
    const CUdeviceptr x = (CUdeviceptr)ptask_stream_call_data(call, 0);
    const CUdeviceptr y = (CUdeviceptr)ptask_stream_call_output(call, 1);
    unsigned int by;

    CHECK(ptask_stream_call_device(call) == *(int *)context);
    CHECK(ptask_stream_call_bytes(call, 0) == 16 && ptask_stream_call_records(call, 0) == 4);
    CHECK(!ptask_stream_call_output(call, 0) && strstr(ptask_error_text(), "only takes"));
    CHECK(!ptask_stream_call_data(call, 3) && !ptask_stream_call_bytes(call, 3) && !ptask_stream_call_records(call, 3));
    memcpy(&by, ptask_stream_call_data(call, 2), sizeof(by));
    if (cuMemcpyDtoDAsync_v2(y, x, ptask_stream_call_bytes(call, 0), ptask_stream_call_stream(call)) ||
        cuMemsetD32Async(y, by, 1, ptask_stream_call_stream(call)))
        return -EIO;
    return 0;
}

static int refuse(void *context, struct ptask_stream_call *call)
{
    (void)context;
    (void)call;
    return -EDOM;
}

static void given_the_stream(void)
{
    const char *const names[] = {"1"};
    int device = 1;
    const struct ptask_code copies = {
        .size = sizeof(struct ptask_code), .stream_function = copy_to_stream, .context = &device};
    const struct ptask_code refuses = {.size = sizeof(struct ptask_code), .stream_function = refuse};
    const struct ptask_code both = {
        .size = sizeof(struct ptask_code), .stream_function = refuse, .kernel = "scale", .cuda_source = cuda_scale};
    struct ptask_graph *graph;
    struct ptask_port *ports[3];
    struct ptask *task;
    struct ptask_channel *in, *out;
    struct ptask_datablock *block;

    CHECK(!ptask_open_graph_on(PTASK_MODE_DATA_AWARE, names, 1, &graph));
    open_scale_ports(graph, ports);
    CHECK(refused(ptask_open_ptask(graph, "both", &both, ports, 3, &task), EINVAL, "not both"));
    CHECK(!ptask_open_ptask(graph, "copy", &copies, ports, 3, &task));
    expect_scaled(graph, ports, 3);
    CHECK(!ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph));
    open_scale_ports(graph, ports);
    CHECK(!ptask_open_ptask(graph, "refuse", &refuses, ports, 3, &task));
    CHECK(!ptask_open_channel(graph, NULL, ports[0], 1, &in));
    CHECK(!ptask_open_channel(graph, ports[1], NULL, 1, &out));
    CHECK(!ptask_run_graph(graph));
    CHECK(!pushed(in, &(float[4]){1, 2, 3, 4}, 16));
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), EIO, "task refuse: the function returned -33"));
    ptask_close_graph(graph);
    CHECK(!ptask_stream_call_stream(NULL) && ptask_stream_call_device(NULL) == -1 && !ptask_stream_call_data(NULL, 0));
}

/* All of a file, which is freed. */
static char *content_of(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *content;

    CHECK(file && !fseek(file, 0, SEEK_END));
    *bytes = (size_t)ftell(file);
    content = malloc(*bytes);
    rewind(file);
    CHECK(content && fread(content, 1, *bytes, file) == *bytes);
    fclose(file);
    return content;
}

/* In memory, and as a text with an option and a header; then devices that there are not. */
static void kernels_of_all_kinds(const char *module)
{
    static const char text[] = "#include \"by.h\"\n"
                               "__global__ void scale(const float *x, float *y, float by)\n"
                               "{\n"
                               "    y[threadIdx.x] = by * x[threadIdx.x] + A + B;\n"
                               "}\n";
    const char *const options[] = {"-DA=1"}, *const names[] = {"9"};
    const struct ptask_header headers[] = {{sizeof(struct ptask_header), "by.h", "#define B 2\n"}};
    const struct ptask_geometry geometry = {sizeof(geometry), {1, 1, 1}, {4, 1, 1}, 0};
    const struct ptask_code source = {.size = sizeof(struct ptask_code),
                                      .cuda_source = text,
                                      .kernel = "scale",
                                      .geometry = &geometry,
                                      .options = options,
                                      .option_count = 1,
                                      .headers = headers,
                                      .header_count = 1};
    struct ptask_code image = {.size = sizeof(struct ptask_code), .kernel = "nobody"};
    struct ptask_graph *graph;
    struct ptask_port *ports[3];
    struct ptask *task;
    char *content = content_of(module, &image.image_bytes);

    image.image = content;
    CHECK(!ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph));
    open_scale_ports(graph, ports);
    CHECK(refused(ptask_open_ptask(graph, "scale", &image, ports, 3, &task), EINVAL, "no kernel nobody"));
    CHECK(!ptask_open_ptask(graph, "scale", &source, ports, 3, &task));
    free(content);
    expect_scaled(graph, ports, 18);
    CHECK(!ptask_open_graph_on(PTASK_MODE_DATA_AWARE, names, 1, &graph));
    open_scale_ports(graph, ports);
    CHECK(refused(ptask_open_ptask(graph, "scale", &source, ports, 3, &task), EINVAL, "name device 9"));
    ptask_close_graph(graph);
    CHECK(refused(ptask_open_graph_on(PTASK_MODE_DATA_AWARE, NULL, 1, &graph), EINVAL, "devices is NULL"));
}

/* What it does once that is known. */
static void until_state(const struct ptask *task, unsigned int wanted)
{
    unsigned int state;

    do
        CHECK(!ptask_get_state(task, &state));
    while (state != wanted);
}

/* Each record's sign is changed; a 0 is refused. */
static int negate(void *context, struct ptask_call *call)
{
    const float *x = ptask_call_data(call, 0);
    float *y = ptask_call_output(call, 1);
    size_t records = ptask_call_records(call, 0);

    CHECK(!ptask_call_output(call, 0) && strstr(ptask_error_text(), "only takes"));
    for (size_t i = 0; i < records; i++) {
        if (x[i] == 0)
            return -EDOM;
        y[i] = -x[i];
    }
    ++*(int *)context;
    return 0;
}

/* A program that was built with a newer header: what the library does not know of must be 0. */
static void code_of_other_versions(void)
{
    struct {
        struct ptask_code code;
        const void *newer;
    } grown = {{.size = sizeof(grown), .function = negate}, NULL};
    struct ptask_geometry geometry = {sizeof(geometry), {1, 1, 1}, {4, 1, 1}, 0};
    struct ptask_header header = {0, "by.h", ""};
    struct ptask_code code = {.function = negate};
    struct ptask_graph *graph;
    struct ptask_port *ports[3];
    struct ptask *task;

    CHECK(!ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph));
    open_scale_ports(graph, ports);
    CHECK(refused(ptask_open_ptask(graph, "none", &code, ports, 3, &task), EINVAL,
                  "ptask_code says that its size is 0, where sizeof(struct ptask_code) is to be"));
    grown.newer = &grown;
    CHECK(refused(ptask_open_ptask(graph, "newer", &grown.code, ports, 3, &task), EINVAL, "a newer one would do"));
    grown.newer = NULL;
    CHECK(!ptask_open_ptask(graph, "grown", &grown.code, ports, 3, &task));
    geometry.size = sizeof(unsigned int);
    CHECK(refused(ptask_set_geometry(task, &geometry), EINVAL, "ptask_geometry says that its size is"));
    code = (struct ptask_code){
        .size = sizeof(code), .cuda_source = cuda_scale, .kernel = "scale", .headers = &header, .header_count = 1};
    open_scale_ports(graph, ports);
    CHECK(refused(ptask_open_ptask(graph, "source", &code, ports, 3, &task), EINVAL,
                  "ptask_header says that its size is 0"));
    ptask_close_graph(graph);
}

/* Each with what is said of it. Ports of a ptask that was refused can be used again. */
static void code_that_is_refused(const char *module)
{
    int calls = 0;
    const struct {
        struct ptask_code code;
        const char *words;
    } cases[] = {
        {{.opencl_source = "nonsense", .kernel = "scale"}, "task scale: kernel scale does not compile"},
        {{.opencl_source = opencl_scale, .kernel = "other"}, "kernel other in its source"},
        {{.cuda_source = cuda_scale, .kernel = "scale"}, "CUDA source needs NVRTC"},
        {{.kernel = "scale"}, "kernel scale needs one of module, image, cuda_source and opencl_source, and has none"},
        {{.module = module, .opencl_source = opencl_scale, .kernel = "scale"}, "and has module and opencl_source"},
        {{.cuda_source = cuda_scale}, "task scale has cuda_source, and not the name of the kernel"},
        {{.function = negate, .context = &calls, .opencl_source = opencl_scale},
         "a kernel or a function, and not both"},
        {{.module = NULL}, "a kernel or a function, and not both"},
    };
    struct ptask_graph *graph;
    struct ptask_port *ports[3];
    struct ptask *task;

    char *compiler = strdup(getenv("PTSCHED_NVRTC"));

    setenv("PTSCHED_NVRTC", "/nonexistent/libnvrtc.so", 1);
    CHECK(!ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph));
    open_scale_ports(graph, ports);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ptask_code code = cases[i].code;

        code.size = sizeof(code);
        CHECK(refused(ptask_open_ptask(graph, "scale", &code, ports, 3, &task), EINVAL, cases[i].words));
    }
    ptask_close_graph(graph);
    setenv("PTSCHED_NVRTC", compiler, 1);
    free(compiler);
    CHECK(!calls);
}

static void functions(void)
{
    const size_t many[3] = {10, 1, 1};
    const float values[] = {1, 2, 0};
    int calls = 0;
    const struct ptask_code code = {.size = sizeof(struct ptask_code), .function = negate, .context = &calls};
    struct ptask_graph *graph;
    struct ptask_template *form;
    struct ptask_port *ports[2];
    struct ptask *task;
    struct ptask_channel *in, *out;
    struct ptask_datablock *block;
    unsigned int state = PTASK_STATE_COMPLETED;

    CHECK(!ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph));
    CHECK(!ptask_open_template(graph, many, sizeof(float), PTASK_VARIABLE, PTASK_GLOBAL, &form));
    CHECK(!ptask_open_port(graph, "x", PTASK_INPUT, form, &ports[0]));
    CHECK(!ptask_open_port(graph, "y", PTASK_OUTPUT, form, &ports[1]));
    CHECK(refused(ptask_open_channel(graph, NULL, ports[0], 1, &in), EINVAL, "ptask_open_ptask"));
    CHECK(!ptask_set_size_from(ports[1], ports[0]));
    CHECK(!ptask_open_ptask(graph, "negate", &code, ports, 2, &task));
    CHECK(refused(ptask_open_ptask(graph, "again", &code, ports, 2, &task), EINVAL, "another ptask"));
    CHECK(!ptask_open_channel(graph, NULL, ports[0], 1, &in));
    CHECK(!ptask_open_channel(graph, ports[1], NULL, 1, &out));
    CHECK(refused(
        ptask_set_geometry(task, &(struct ptask_geometry){sizeof(struct ptask_geometry), {1, 1, 1}, {1, 1, 1}, 0}),
        EINVAL, "negate"));
    CHECK(!ptask_run_graph(graph));
    CHECK(!ptask_get_state(task, &state) && state == PTASK_STATE_WAITING);
    CHECK(refused(ptask_get_state(task, NULL), EINVAL, "state is NULL"));
    CHECK(!pushed(in, values, 2 * sizeof(float)));
    CHECK(first_pulled(out) == -1);
    until_state(task, PTASK_STATE_COMPLETED);
    CHECK(!ptask_push(in, NULL, PTASK_FOREVER));
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), ENODATA, "end of the stream"));
    CHECK(!pushed(in, values, sizeof(values)));
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), EIO, strerror(EDOM)));
    CHECK(strstr(ptask_error_text(), "negate"));
    CHECK(calls == 1);
    ptask_close_graph(graph);
}

static int halve(void *context, struct ptask_call *call)
{
    float *x = ptask_call_output(call, 0);

    *x /= 2;
    *(unsigned int *)ptask_call_output(call, 1) = *x > 1;
    ++*(int *)context;
    return 0;
}

static void loop(void)
{
    static const char *const names[] = {"x", "again"};
    const size_t one[3] = {1, 1, 1};
    const float value = 40;
    int calls = 0;
    const struct ptask_code code = {.size = sizeof(struct ptask_code), .function = halve, .context = &calls};
    struct ptask_graph *graph;
    struct ptask_template *form;
    struct ptask_port *ports[2];
    struct ptask *task;
    struct ptask_channel *in, *out;

    CHECK(!ptask_open_graph(PTASK_MODE_FIFO, &graph));
    CHECK(!ptask_open_template(graph, one, sizeof(float), PTASK_FIXED, PTASK_GLOBAL, &form));
    for (int i = 0; i < 2; i++)
        CHECK(!ptask_open_port(graph, names[i], i ? PTASK_OUTPUT : PTASK_INOUT, form, &ports[i]));
    CHECK(refused(ptask_open_loop(graph, ports[0], ports[0], ports[1]), EINVAL, "ptask_open_ptask"));
    CHECK(!ptask_open_ptask(graph, "halve", &code, ports, 2, &task));
    CHECK(refused(ptask_open_loop(graph, ports[0], ports[0], NULL), EINVAL, "again is NULL"));
    CHECK(!ptask_open_loop(graph, ports[0], ports[0], ports[1]));
    CHECK(!ptask_open_channel(graph, NULL, ports[0], 1, &in));
    CHECK(!ptask_open_channel(graph, ports[0], NULL, 1, &out));
    CHECK(!ptask_run_graph(graph));
    CHECK(!pushed(in, &value, sizeof(value)));
    CHECK(first_pulled(out) == 0.625);
    CHECK(calls == 6);
    ptask_close_graph(graph);
}

/* What comes goes on; a negative number is an error, and a 0 is the last. */
static int judge(void *context, struct ptask_call *call)
{
    const float *x = ptask_call_data(call, 0);

    CHECK(refused(ptask_terminate_graph(context), EINVAL, "cannot stop"));
    CHECK(!ptask_call_output(call, 1) && strstr(ptask_error_text(), "no parameter 1"));
    CHECK(!ptask_call_data(call, 1) && !ptask_call_bytes(call, 1) && !ptask_call_records(call, (size_t)-1));
    CHECK(refused(ptask_call_report(call, NULL), EINVAL, "error is NULL"));
    if (*x < 0)
        return ptask_call_report(call, "negative");
    if (*x == 0)
        ptask_call_end_stream(call);
    return 0;
}

static void signals(void)
{
    const size_t one[3] = {1, 1, 1};
    const float values[] = {0, -1, 5};
    struct ptask_code code = {.size = sizeof(struct ptask_code), .function = judge};
    struct ptask_graph *graph;
    struct ptask_template *form;
    struct ptask_port *port;
    struct ptask *task;
    struct ptask_channel *in, *out;
    struct ptask_datablock *block;

    CHECK(!ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph));
    code.context = graph;
    CHECK(!ptask_open_template(graph, one, sizeof(float), PTASK_FIXED, PTASK_GLOBAL, &form));
    CHECK(!ptask_open_port(graph, "x", PTASK_INOUT, form, &port));
    CHECK(!ptask_open_ptask(graph, "judge", &code, &port, 1, &task));
    CHECK(!ptask_open_channel(graph, NULL, port, 4, &in));
    CHECK(!ptask_open_channel(graph, port, NULL, 4, &out));
    CHECK(!ptask_run_graph(graph));
    for (int i = 0; i < 3; i++)
        CHECK(!pushed(in, &values[i], sizeof(float)));
    CHECK(first_pulled(out) == 0);
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), ENODATA, "end of the stream"));
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), EBADMSG, "negative"));
    CHECK(first_pulled(out) == 5);
    CHECK(!ptask_send(in, NULL, 0, "lost", PTASK_FOREVER));
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), EBADMSG, "lost"));
    CHECK(!ptask_open_datablock(&values[2], sizeof(float), &block));
    CHECK(!ptask_send(in, block, 1, NULL, PTASK_FOREVER));
    CHECK(first_pulled(out) == 5);
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), ENODATA, "end of the stream"));
    CHECK(refused(ptask_send(in, NULL, 0, NULL, PTASK_FOREVER), EINVAL, "neither"));
    ptask_close_graph(graph);
}

/* Where no scheduler is, a graph runs without, or does not run. */
struct log {
    unsigned int lines;
    char last[256];
};

static void keep_line(void *context, const char *line)
{
    struct log *log = context;

    log->lines++;
    snprintf(log->last, sizeof(log->last), "%s", line);
}

static void attached(const char *module)
{
    static const unsigned int flags[] = {PTASK_ATTACH, PTASK_MUST_ATTACH};
    struct log log = {0};

    setenv("PTSCHED_SOCKET", "/nonexistent/socket", 1);
    setenv("PTSCHED_DEVICE_NODE", "/nonexistent/node", 1);
    CHECK(!ptask_set_log(keep_line, &log));
    for (int i = 0; i < 2; i++) {
        struct ptask_graph *graph;
        struct ptask_port *ports[4];
        struct ptask *task;
        struct ptask_channel *a, *b, *c;
        const float ones[16] = {1};

        CHECK(!ptask_open_graph(PTASK_MODE_FIFO | flags[i], &graph));
        open_product(graph, "AxB", module, ports, &task);
        CHECK(!ptask_open_channel(graph, NULL, ports[0], 1, &a));
        CHECK(!ptask_open_channel(graph, NULL, ports[1], 1, &b));
        CHECK(!ptask_open_channel(graph, ports[2], NULL, 1, &c));
        CHECK(refused(ptask_work_for(graph, 0), EINVAL, "no pidfd"));
        CHECK(!ptask_work_for(graph, -1));
        if (flags[i] == PTASK_MUST_ATTACH) {
            CHECK(refused(ptask_run_graph(graph), EINVAL, "no scheduler"));
        } else {
            CHECK(!ptask_run_graph(graph));
            CHECK(!pushed(a, ones, sizeof(ones)));
            CHECK(!pushed(b, ones, sizeof(ones)));
            CHECK(first_pulled(c) == 1);
        }
        ptask_close_graph(graph);
    }
    CHECK(!ptask_set_log(NULL, NULL));
    CHECK(log.lines == 1 && strstr(log.last, "unscheduled") && !strchr(log.last, '\n'));
}

/* Ends of one stride and two types. */
static void types(void)
{
    const struct ptask_code code = {.size = sizeof(struct ptask_code), .function = negate};
    const size_t one[3] = {1, 1, 1};
    struct ptask_graph *graph;
    struct ptask_template *form;
    struct ptask_port *first[2], *second[2];
    struct ptask *task;
    struct ptask_channel *channel;

    CHECK(!ptask_open_graph(PTASK_MODE_FIFO, &graph));
    CHECK(!ptask_open_template(graph, one, sizeof(float), PTASK_FIXED, PTASK_GLOBAL, &form));
    CHECK(!ptask_open_port(graph, "x", PTASK_INPUT, form, &first[0]));
    CHECK(!ptask_set_type(form, PTASK_FLOAT));
    CHECK(!ptask_open_port(graph, "y", PTASK_OUTPUT, form, &first[1]));
    CHECK(!ptask_set_type(form, PTASK_INT32));
    CHECK(!ptask_open_port(graph, "a", PTASK_INPUT, form, &second[0]));
    CHECK(!ptask_set_type(form, PTASK_ANY_TYPE));
    CHECK(!ptask_open_port(graph, "b", PTASK_OUTPUT, form, &second[1]));
    CHECK(refused(ptask_set_type(form, PTASK_DOUBLE), EINVAL, "4 bytes cannot be of type double, which has 8"));
    CHECK(refused(ptask_set_type(form, 11), EINVAL, "no type 11"));
    CHECK(refused(ptask_set_type(NULL, PTASK_FLOAT), EINVAL, "form is NULL"));
    CHECK(!ptask_open_ptask(graph, "first", &code, first, 2, &task));
    CHECK(!ptask_open_ptask(graph, "second", &code, second, 2, &task));
    CHECK(refused(ptask_open_channel(graph, first[1], second[0], 1, &channel), EINVAL, "float"));
    CHECK(!ptask_open_channel(graph, second[1], first[0], 1, &channel));
    ptask_close_graph(graph);
}

static int do_nothing(void *context, struct ptask_call *call)
{
    (void)context;
    (void)call;
    return 0;
}

static int is_readable(int fd, int timeout)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};

    return poll(&polled, 1, timeout) == 1;
}

/* Two functions in a row, from the beginning to the end. */
static void drained_and_polled(void)
{
    const struct ptask_code code = {.size = sizeof(struct ptask_code), .function = do_nothing, .is_concurrent = 1};
    const float values[4] = {7};
    struct ptask_graph *graph;
    struct ptask_template *form;
    struct ptask_port *ports[2];
    struct ptask *task;
    struct ptask_channel *in, *between, *out;
    struct ptask_datablock *block;
    size_t blocks = 9, capacity = 9;
    int fd = -1, occupied = -1;

    CHECK(!ptask_open_graph(PTASK_MODE_FIFO, &graph));
    CHECK(!ptask_open_template(graph, (size_t[]){4, 1, 1}, sizeof(float), PTASK_FIXED, PTASK_GLOBAL, &form));
    for (int i = 0; i < 2; i++) {
        CHECK(!ptask_open_port(graph, "x", PTASK_INOUT, form, &ports[i]));
        CHECK(!ptask_open_ptask(graph, i ? "second" : "first", &code, &ports[i], 1, &task));
    }
    CHECK(!ptask_open_channel(graph, NULL, ports[0], 3, &in));
    CHECK(!ptask_open_channel(graph, ports[0], ports[1], 4, &between));
    CHECK(!ptask_open_channel(graph, ports[1], NULL, 5, &out));
    CHECK(refused(ptask_drain_graph(graph, 0), EINVAL, "not run"));
    CHECK(refused(ptask_pull(out, &block, PTASK_FOREVER), EINVAL, "not run"));
    CHECK(refused(ptask_get_descriptor(in, &fd), EINVAL, "a port"));
    CHECK(refused(ptask_get_descriptor(out, NULL), EINVAL, "fd is NULL"));
    CHECK(!ptask_get_descriptor(out, &fd) && fd > 2);
    CHECK(!pushed(in, values, sizeof(values)));
    CHECK(!ptask_get_depth(in, &blocks, &capacity) && blocks == 1 && capacity == 3);
    CHECK(!ptask_get_port_state(ports[0], &occupied) && occupied == 1);
    CHECK(!ptask_get_port_state(ports[1], &occupied) && occupied == 0);
    CHECK(!is_readable(fd, 0));
    CHECK(!ptask_run_graph(graph));
    CHECK(refused(ptask_run_graph(graph), EINVAL, "run already"));
    CHECK(!ptask_drain_graph(graph, PTASK_FOREVER));
    CHECK(is_readable(fd, -1));
    CHECK(!ptask_get_depth(out, &blocks, &capacity) && blocks == 1 && capacity == 5);
    CHECK(!ptask_get_depth(between, &blocks, &capacity) && blocks == 0 && capacity == 4);
    CHECK(!ptask_pull(out, &block, 0));
    ptask_put_datablock(block);
    CHECK(!is_readable(fd, 0));
    ptask_close_graph(graph);
    CHECK(!ptask_open_graph(PTASK_MODE_FIFO, &graph));
    CHECK(!ptask_terminate_graph(graph));
    ptask_close_graph(graph);
}

/* What is put or pushed twice is known for a while. */
static void put_twice(void)
{
    const float values[4] = {7};
    struct ptask_datablock *block, *other;
    const void *content;

    CHECK(!ptask_open_datablock(values, sizeof(values), &block));
    CHECK(!ptask_open_datablock(values, sizeof(values), &other));
    ptask_put_datablock(block);
    ptask_put_datablock(block);
    CHECK(refused(ptask_read_datablock(block, &content, NULL), EINVAL, "pushed or put before"));
    CHECK(!ptask_read_datablock(other, &content, NULL) && *(const float *)content == 7);
    ptask_put_datablock(other);
    CHECK(ptask_trim() >= sizeof(values));
}

static void nothing_there(void)
{
    struct ptask_graph *graph;
    struct ptask_template *form;

    CHECK(refused(ptask_open_graph(9, &graph), EINVAL, "no mode 9"));
    CHECK(refused(ptask_open_graph(PTASK_MODE_FIFO, NULL), EINVAL, "graph is NULL"));
    CHECK(refused(ptask_open_template(NULL, (size_t[]){1, 1, 1}, 4, PTASK_FIXED, PTASK_GLOBAL, &form), EINVAL,
                  "graph is NULL"));
    CHECK(refused(ptask_run_graph(NULL), EINVAL, "graph is NULL"));
    CHECK(!ptask_open_graph(PTASK_MODE_FIFO, &graph));
    CHECK(refused(ptask_run_graph(graph), EINVAL, "no tasks"));
    ptask_close_graph(graph);
    ptask_close_graph(NULL);
    ptask_put_datablock(NULL);
    CHECK(!ptask_call_data(NULL, 0) && !ptask_call_output(NULL, 0) && !ptask_call_bytes(NULL, 0) &&
          !ptask_call_records(NULL, 0));
    CHECK(refused(ptask_call_report(NULL, "lost"), EINVAL, "call is NULL"));
    ptask_call_end_stream(NULL);
}

int c_checks(const char *module)
{
    products(module);
    one_input_of_two_ports(module);
    opencl_source();
    /* Before the compiler has been found. */
    code_that_is_refused(module);
    given_the_stream();
    kernels_of_all_kinds(module);
    functions();
    loop();
    signals();
    attached(module);
    types();
    drained_and_polled();
    put_twice();
    code_of_other_versions();
    nothing_there();
    return failures;
}
