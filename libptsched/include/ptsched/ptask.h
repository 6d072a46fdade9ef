/* SPDX-License-Identifier: MIT */
/**
 * @file
 * libptask: graphs of tasks for accelerators and the host (PTask, SOSP'11).
 *
 * The calls of the paper's Table 1, for C. A graph is made of ptasks, whose
 * parameters are ports, and of channels between ports, or between a port and
 * the program; datablocks pass through these. A ptask runs when each of its
 * inputs has a datablock, and data moves where it is needed by itself.
 *
 * Functions return 0 or a negative errno; ptask_error_text() says in words
 * what was wrong. -EINVAL: what is asked for is not possible, or does not fit;
 * -EIO: the graph has failed; -EPIPE: it was terminated; -ENOMEM. What a
 * function returns through a pointer belongs to the graph and lives as long,
 * except for datablocks. Any thread may push and pull; what makes a graph is to
 * be called by one at a time.
 *
 * Structures begin with their size, which is sizeof. Later versions may add
 * members at the end: what a program does not know of is taken for 0, and
 * -EINVAL is for members that the library does not know of, unless they are 0.
 */
#ifndef PTSCHED_PTASK_H
#define PTSCHED_PTASK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ptask;
struct ptask_graph;
struct ptask_template;
struct ptask_port;
struct ptask_channel;
struct ptask_datablock;
struct ptask_call;

/** What went wrong in the last call of this thread that returned an error; never NULL. */
const char *ptask_error_text(void);

/**
 * What libptask has to say that is no error of a call, for instance why a graph
 * is not scheduled: a line without its end. Called by any thread, of which
 * several may come at once; it must not call the library, nor block for long.
 */
typedef void (*ptask_log)(void *context, const char *line);

/**
 * From now on lines go to @log; with NULL, to standard error, as at first. Any
 * thread may call it; another that has begun to give a line to the last one may
 * still do so after the return. -ENOMEM.
 */
int ptask_set_log(ptask_log log, void *context);

enum ptask_mode {
    PTASK_MODE_DATA_AWARE = 0,
    PTASK_MODE_PRIORITY = 1,
    PTASK_MODE_FIFO = 2,
    PTASK_MODE_FIRST_AVAILABLE = 3,
};

/**
 * Flags of a mode: the graph's work on GPUs is scheduled by ptsched, where it
 * runs, or else ptask_run_graph() fails with -EINVAL.
 */
#define PTASK_ATTACH (1u << 8)
#define PTASK_MUST_ATTACH (1u << 9)

/** A graph without ptasks; @mode is one of enum ptask_mode, with flags or without. */
int ptask_open_graph(unsigned int mode, struct ptask_graph **graph);

/**
 * The same for kernels that use @count named devices only: a GPU by its number
 * in the CUDA driver's order, "0", or by its address on the PCI bus,
 * "0000:17:00.0"; a device of OpenCL by its number there, "opencl:0". With 0,
 * all that there are. A name of no device is refused by ptask_open_ptask().
 */
int ptask_open_graph_on(unsigned int mode, const char *const *devices, size_t count, struct ptask_graph **graph);

/** Terminate the graph and free it with all that belongs to it. NULL is allowed. */
void ptask_close_graph(struct ptask_graph *graph);

enum ptask_layout {
    PTASK_FIXED = 0,    /* as many records as the dimensions say */
    PTASK_VARIABLE = 1, /* at most as many */
    PTASK_OPAQUE = 2,   /* any number of bytes */
};

enum ptask_binding {
    PTASK_GLOBAL = 0,   /* the parameter is an address */
    PTASK_CONSTANT = 1, /* CUDA: no parameter, but the variable of that name; else an address. Is only read */
    PTASK_BY_VALUE = 2, /* the parameter is the content, of fixed form */
};

/** The form of datablocks: @dimensions of records of @stride bytes, an enum ptask_layout and an enum ptask_binding. */
int ptask_open_template(struct ptask_graph *graph, const size_t dimensions[3], size_t stride, unsigned int layout,
                        unsigned int binding, struct ptask_template **form);

enum ptask_type {
    PTASK_ANY_TYPE = 0,
    PTASK_INT8,
    PTASK_UINT8,
    PTASK_INT16,
    PTASK_UINT16,
    PTASK_INT32,
    PTASK_UINT32,
    PTASK_INT64,
    PTASK_UINT64,
    PTASK_FLOAT,
    PTASK_DOUBLE,
};

/**
 * What the records of a form are, an enum ptask_type of its stride; without it,
 * anything. ptask_open_channel() refuses ports of two types. For the ports that
 * are opened after that.
 */
int ptask_set_type(struct ptask_template *form, unsigned int type);

enum ptask_port_kind {
    PTASK_INPUT = 0,     /* takes a datablock for each run */
    PTASK_OUTPUT = 1,    /* gives one for each run */
    PTASK_STICKY = 2,    /* keeps its datablock until another comes */
    PTASK_INOUT = 3,     /* takes one for each run and gives it on, changed */
    PTASK_METADATA = 4,  /* an integer for each run: how many records an output has; no parameter of the code */
    PTASK_CONDITION = 5, /* an integer for each run: with 0 the code does not run; no parameter of the code */
};

/** A port of an enum ptask_port_kind, to be bound to a ptask by ptask_open_ptask(). */
int ptask_open_port(struct ptask_graph *graph, const char *name, unsigned int kind, const struct ptask_template *form,
                    struct ptask_port **port);

/**
 * What an output, or an inout port without a channel, begins with in each run;
 * what a sticky port has until something else comes; the first datablock of an
 * input, which makes a cycle possible. Before ptask_open_ptask().
 */
int ptask_set_initial(struct ptask_port *port, const void *content, size_t bytes);

/** The port of the same ptask that says how many records this output has. Before ptask_open_ptask(). */
int ptask_set_size_from(struct ptask_port *port, const struct ptask_port *other);

struct ptask_geometry {
    size_t size;                    /* sizeof(struct ptask_geometry) */
    unsigned int grid[3], block[3]; /* blocks, threads of a block */
    unsigned int shared_bytes;      /* of a block, dynamic; in CUDA alone */
};

/**
 * A function of the host: of the contents of its parameters, counted from 0;
 * where it has no such parameter, NULL and 0.
 * What is not 0 fails the graph: a negative errno, whose text is then in the
 * graph's.
 */
typedef int (*ptask_function)(void *context, struct ptask_call *call);
const void *ptask_call_data(const struct ptask_call *call, size_t parameter);
/** The same to be written: of outputs and inout ports, else NULL, since others may have the content. */
void *ptask_call_output(const struct ptask_call *call, size_t parameter);
size_t ptask_call_bytes(const struct ptask_call *call, size_t parameter);
size_t ptask_call_records(const struct ptask_call *call, size_t parameter);
/** To go with the outputs of this run: the end of the stream, and an error, which is copied. */
void ptask_call_end_stream(struct ptask_call *call);
int ptask_call_report(struct ptask_call *call, const char *error);

struct ptask_stream_call;

/**
 * A function that gives a GPU the work of a run itself: to a stream, behind
 * what makes the inputs. The run is over when the stream has done that. It must
 * not block, and is called by whichever thread does the graph's work, one at a
 * time, with the GPU's primary context. What is not 0 fails the graph.
 */
typedef int (*ptask_stream_function)(void *context, struct ptask_stream_call *call);
/** A CUstream, or cudaStream_t, which is the same. */
void *ptask_stream_call_stream(const struct ptask_stream_call *call);
/** The GPU, by its number in the CUDA driver's order. */
int ptask_stream_call_device(const struct ptask_stream_call *call);
/**
 * Addresses in the GPU's memory, of parameters counted from 0; of one by value,
 * that of the value. NULL where there is no such parameter and, for the output,
 * where it only takes.
 */
const void *ptask_stream_call_data(const struct ptask_stream_call *call, size_t parameter);
void *ptask_stream_call_output(const struct ptask_stream_call *call, size_t parameter);
/** 0 where there is no such parameter. */
size_t ptask_stream_call_bytes(const struct ptask_stream_call *call, size_t parameter);
size_t ptask_stream_call_records(const struct ptask_stream_call *call, size_t parameter);

/** What a source includes by that name. All of an array have one size. */
struct ptask_header {
    size_t size; /* sizeof(struct ptask_header) */
    const char *name, *text;
};

/**
 * One of these: a kernel, by its name and where it is, which is one of @module,
 * @image, @cuda_source and @opencl_source; a function of the host; a function
 * for a stream. What is not used is NULL. Read by ptask_open_ptask() alone:
 * strings and images need not live longer.
 */
struct ptask_code {
    size_t size;        /* sizeof(struct ptask_code) */
    const char *module; /* a file of SASS, PTX or fat binary, or a program with kernels, for CUDA */
    const char *kernel;
    /*
     * NULL: threads for the records of the first output, in blocks of 256, or
     * of 16 x 16 for more than one dimension. There may be more threads than
     * records: a kernel looks whether its record exists.
     */
    const struct ptask_geometry *geometry;
    ptask_function function;
    void *context;
    const char *cuda_source;   /* the text, in CUDA C++; needs NVRTC, the compiler library of the CUDA toolkit */
    const char *opencl_source; /* the text, in OpenCL C; a structure is no parameter by value there */
    const void *image; /* what such a file has, in memory; or the structure by which nvcc's code finds a fat binary */
    size_t image_bytes;
    const char *const *options; /* for @cuda_source: the compiler's, say "-I/folder"; C++17 unless they say otherwise */
    size_t option_count;
    const struct ptask_header *headers; /* for @cuda_source; those that come with CUDA are found without */
    size_t header_count;
    ptask_stream_function stream_function; /* of @context */
    /*
     * 0: the function is called once at a time, in the order of its runs, by
     * one thread or another. Else by several at once.
     */
    int is_concurrent;
};

/**
 * A ptask with @count ports, which are its parameters in their order. -EINVAL,
 * among others: no device that could run the kernel, no compiler for its text,
 * or a text that does not compile, with what the compiler says.
 */
int ptask_open_ptask(struct ptask_graph *graph, const char *name, const struct ptask_code *code,
                     struct ptask_port *const *ports, size_t count, struct ptask **task);

/**
 * A channel for @capacity datablocks from an output to an input. NULL stands
 * for the program: ptask_push() for @from, ptask_pull() for @to.
 */
int ptask_open_channel(struct ptask_graph *graph, struct ptask_port *from, struct ptask_port *to, size_t capacity,
                       struct ptask_channel **channel);

/** What is pushed to @channel goes to @to, too, when there is room for it in all its channels. */
int ptask_extend_channel(struct ptask_channel *channel, struct ptask_port *to, size_t capacity);

/**
 * What is at @from goes back to @to as long as the integer at @again is not 0,
 * an output of the same ptask as @from, and then to the other channels of that.
 */
int ptask_open_loop(struct ptask_graph *graph, struct ptask_port *from, struct ptask_port *to,
                    struct ptask_port *again);

/** A datablock with a copy of @content, to be pushed or put. */
int ptask_open_datablock(const void *content, size_t bytes, struct ptask_datablock **block);

/** Its content, valid until it is pushed or put. Blocks until it is there. */
int ptask_read_datablock(struct ptask_datablock *block, const void **content, size_t *bytes);

/** The program does not need it any more. NULL is allowed; what was put before is left alone, as far as that is known. */
void ptask_put_datablock(struct ptask_datablock *block);

/**
 * Give memory back to drivers and the system that is kept for datablocks to
 * come and that nobody uses, of the host and of all devices. Returns how much
 * that was, in bytes. What is kept is at most as much as was in use of late,
 * and a little. Any thread may call it; it may wait for work that devices have.
 */
size_t ptask_trim(void);

#define PTASK_FOREVER (-1)

/**
 * Give the graph a datablock, which is the graph's on success. Blocks while the
 * channel is full, at most @timeout_ns: then -ETIMEDOUT. With NULL for @block,
 * the end of a stream.
 */
int ptask_push(struct ptask_channel *channel, struct ptask_datablock *block, int64_t timeout_ns);

/**
 * The same with signals that travel with the datablock, or alone: the end of
 * the stream unless @end_of_stream is 0, and, unless it is NULL, an error,
 * which is copied.
 */
int ptask_send(struct ptask_channel *channel, struct ptask_datablock *block, int end_of_stream, const char *error,
               int64_t timeout_ns);

/**
 * Get a datablock, which is the program's on success. Blocks while there is
 * none, at most @timeout_ns: then -ETIMEDOUT. -ENODATA, once: the end of a
 * stream, after the datablock or the error that it came with. -EBADMSG: what
 * would have come here has an error, and is dropped.
 */
int ptask_pull(struct ptask_channel *channel, struct ptask_datablock **block, int64_t timeout_ns);

/**
 * A descriptor to be polled for input: readable while there is something to
 * pull from the channel, which leads to the program, and when the graph has
 * been terminated or has failed. It stays the graph's and is not to be read.
 * From this call on, what is pulled is on the host: neither ptask_pull() with a
 * timeout of 0 nor ptask_read_datablock() blocks. -EINVAL if that is after
 * ptask_run_graph().
 */
int ptask_get_descriptor(struct ptask_channel *channel, int *fd);

/** How many datablocks and signals wait in a channel, and with how many it is full. Any thread may ask. */
int ptask_get_depth(const struct ptask_channel *channel, size_t *blocks, size_t *capacity);

/** Whether an input has what its ptask's next run takes, or an output no room for what one gives: then @occupied is 1. */
int ptask_get_port_state(const struct ptask_port *port, int *occupied);

/**
 * Start. Nothing can be added any more. A graph is run once: -EINVAL for one
 * that was run or terminated.
 */
int ptask_run_graph(struct ptask_graph *graph);

/**
 * Wait until all that was pushed has gone through the graph, into its outputs;
 * for what lacks room there, until somebody pulls; at most @timeout_ns: then
 * -ETIMEDOUT. -EINVAL before the graph is run, and in a function of it.
 */
int ptask_drain_graph(struct ptask_graph *graph, int64_t timeout_ns);

/**
 * Begin nothing any more, wake all who push or pull, and wait for what runs. What is in channels can be pulled. -EINVAL
 * in a function of the graph, which would wait for itself, and must not close it either.
 */
int ptask_terminate_graph(struct ptask_graph *graph);

/**
 * From its next turn on, an attached graph's work has the weight of the process
 * of @pidfd and is charged to it, as far as ptsched allows that; -1: of this
 * process again. -EINVAL: no pidfd of a process that is alive.
 */
int ptask_work_for(struct ptask_graph *graph, int pidfd);

/** Of the ptasks that could run, the one with the highest priority does; @proxy_priority is that of who asked for it.
 */
int ptask_set_ptask_prio(struct ptask *task, int static_priority, int proxy_priority);

enum ptask_state {
    PTASK_STATE_WAITING = 0,   /* for the first datablocks, or the rest of what a run needs, or room for its outputs */
    PTASK_STATE_QUEUED = 1,    /* for the scheduler: all that a run needs is there */
    PTASK_STATE_EXECUTING = 2, /* at least one run has been given to a device */
    PTASK_STATE_COMPLETED = 3, /* all runs so far have ended, and nothing has come for another */
};

/** What a ptask does at the moment, one of enum ptask_state. Any thread may ask. */
int ptask_get_state(const struct ptask *task, unsigned int *state);

/** The threads of a kernel, before the graph is run. -EINVAL if it cannot have so many on each of its devices. */
int ptask_set_geometry(struct ptask *task, const struct ptask_geometry *geometry);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_PTASK_H */
