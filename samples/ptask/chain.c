// SPDX-License-Identifier: MIT
// A x B x C in C: the calls of the PTask paper's Table 1. chain.cpp is the same in C++.
//
//	build/samples/chain-c [MODULE]
//
// MODULE is as for chain.cpp; without one, a device of OpenCL does it. What the graph owns needs no freeing; datablocks
// are the program's until they are pushed.
#include <ptsched/ptask.h>

#include <stdio.h>
#include <string.h>

enum { n = 64 };

static const char *const source =
    "__kernel void matmul(__global const float *a, __global const float *b, __global float *c, uint n)\n"
    "{\n"
    "    size_t column = get_global_id(0), row = get_global_id(1);\n"
    "    float sum = 0;\n"
    "    if (row >= n || column >= n)\n"
    "        return;\n"
    "    for (uint k = 0; k < n; k++)\n"
    "        sum += a[row * n + k] * b[k * n + column];\n"
    "    c[row * n + column] = sum;\n"
    "}\n";

/* Each of these returns 0 or a negative errno, whose words ptask_error_text() has. */
static int open_product(struct ptask_graph *graph, const char *name, const char *module, struct ptask_port *ports[4])
{
    static const char *const names[] = {"a", "b", "c"};
    const size_t square[3] = {n, n, 1}, one[3] = {1, 1, 1};
    const unsigned int size = n;
    const struct ptask_code code = {
        .size = sizeof(code), .module = module, .opencl_source = module ? NULL : source, .kernel = "matmul"};
    struct ptask_template *matrices, *sizes;
    struct ptask *task;
    int error = ptask_open_template(graph, square, sizeof(float), PTASK_FIXED, PTASK_GLOBAL, &matrices);

    if (!error)
        error = ptask_open_template(graph, one, sizeof(size), PTASK_FIXED, PTASK_BY_VALUE, &sizes);
    for (int i = 0; i < 3 && !error; i++)
        error = ptask_open_port(graph, names[i], i < 2 ? PTASK_INPUT : PTASK_OUTPUT, matrices, &ports[i]);
    if (!error)
        error = ptask_open_port(graph, "n", PTASK_STICKY, sizes, &ports[3]);
    if (!error)
        error = ptask_set_initial(ports[3], &size, sizeof(size));
    return error ? error : ptask_open_ptask(graph, name, &code, ports, 4, &task);
}

/* A matrix of the same number everywhere. */
static int push(struct ptask_channel *channel, float number)
{
    static float matrix[n * n];
    struct ptask_datablock *block;
    int error;

    for (int i = 0; i < n * n; i++)
        matrix[i] = number;
    error = ptask_open_datablock(matrix, sizeof(matrix), &block);
    if (error)
        return error;
    error = ptask_push(channel, block, PTASK_FOREVER);
    if (error)
        ptask_put_datablock(block);
    return error;
}

static int pull(struct ptask_channel *channel, float *first)
{
    struct ptask_datablock *block;
    const void *content;
    size_t bytes;
    int error = ptask_pull(channel, &block, PTASK_FOREVER);

    if (error)
        return error;
    error = ptask_read_datablock(block, &content, &bytes);
    if (!error)
        *first = *(const float *)content;
    ptask_put_datablock(block);
    return error;
}

static int multiply(struct ptask_graph *graph, const char *module, float *first)
{
    enum { a, b, c, between, product, channels };
    struct ptask_port *ab[4], *abc[4];
    struct ptask_channel *channel[channels];
    int error = open_product(graph, "AxB", module, ab);

    if (!error)
        error = open_product(graph, "ABxC", module, abc);
    if (error)
        return error;
    struct ptask_port *const ends[channels][2] = {
        [a] = {NULL, ab[0]},         [b] = {NULL, ab[1]},        [c] = {NULL, abc[1]},
        [between] = {ab[2], abc[0]}, [product] = {abc[2], NULL},
    };
    for (int i = 0; i < channels && !error; i++)
        error = ptask_open_channel(graph, ends[i][0], ends[i][1], 1, &channel[i]);
    if (!error)
        error = ptask_run_graph(graph);
    for (int i = a; i <= c && !error; i++)
        error = push(channel[i], i + 1);
    return error ? error : pull(channel[product], first);
}

int main(int argc, char **argv)
{
    const float expected = 1.0f * 2 * 3 * n * n;
    struct ptask_graph *graph = NULL;
    float first = 0;
    int error;

    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        const int help = argc == 2 && !strcmp(argv[1], "--help");
        fprintf(help ? stdout : stderr,
                "usage: chain-c [MODULE]\n"
                "Multiplies three matrices with the kernel \"matmul\" of MODULE, or with one of OpenCL C.\n");
        return !help ? 2 : fflush(stdout) ? 1 : 0;
    }
    error = ptask_open_graph(PTASK_MODE_DATA_AWARE, &graph);
    if (!error)
        error = multiply(graph, argc == 2 ? argv[1] : NULL, &first);
    if (error)
        fprintf(stderr, "chain-c: %s\n", ptask_error_text());
    else
        printf("each element of A x B x C is %.0f, expected %.0f\n", first, expected);
    ptask_close_graph(graph);
    if (fflush(stdout)) {
        perror("chain-c: cannot write to standard output");
        return 1;
    }
    return error || first != expected;
}
