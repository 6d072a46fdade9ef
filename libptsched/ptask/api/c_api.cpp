// SPDX-License-Identifier: MIT
/* The C interface: handles that the graph keeps. */
#include "libptsched/base/c_struct.hpp"
#include "libptsched/ptask/api/c_error.hpp"
#include "libptsched/ptask/graph/retired.hpp"
#include "libptsched/ptask/graph/type_name.hpp"
#include <ptsched/ptask.h>
#include <ptsched/ptask/graph.hpp>
#include <ptsched/ptask/log.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <deque>
#include <iterator>

using namespace ptsched::ptask;

struct ptask_template {
    Template form;
};

struct ptask_port {
    ptask_graph *graph;
    PortOptions options;
    Port *port = nullptr; /* of its task */
};

struct ptask {
    Task &task;
};

struct ptask_channel {
    ptask_graph *graph;
    Input *input = nullptr;
    Output *output = nullptr;
    const Port *to = nullptr; /* where it leads between two */
};

struct ptask_datablock {
    DatablockPtr block;
    std::atomic<bool> gone{false}; /* pushed or put */
};

/* Addresses of what is in a deque do not change. */
struct ptask_graph {
    explicit ptask_graph(const GraphOptions &options) : graph(options) {}

    Graph graph;
    std::deque<ptask_template> templates;
    std::deque<ptask_port> ports;
    std::deque<ptask> tasks;
    std::deque<ptask_channel> channels;
};

namespace {

/* For programs that push or put it again. Its content ends here, which may wait for a device. */
void retire(ptask_datablock *block)
{
    if (block->gone.exchange(true))
        return;
    const DatablockPtr content = std::move(block->block);
    Retired<ptask_datablock>::keep(std::unique_ptr<ptask_datablock>(block));
}

ptask_datablock &still_there(ptask_datablock *block)
{
    if (needed(block, "block").gone)
        throw Error("the datablock was pushed or put before");
    return *block;
}

Port &bound(const ptask_port *port)
{
    if (!port->port)
        throw Error("port " + port->options.name + " belongs to no ptask: ptask_open_ptask() comes first");
    return *port->port;
}

/* Sizes that structures had in the first version, by the last member that they had there. */
constexpr std::size_t first_geometry = offsetof(ptask_geometry, shared_bytes) + sizeof(ptask_geometry::shared_bytes),
                      first_header = offsetof(ptask_header, text) + sizeof(ptask_header::text),
                      first_code = offsetof(ptask_code, is_concurrent) + sizeof(ptask_code::is_concurrent);

Geometry geometry_of(const ptask_geometry &given)
{
    const ptask_geometry g = ptsched::as_known(given, first_geometry, "ptask_geometry");
    return {{g.grid[0], g.grid[1], g.grid[2]}, {g.block[0], g.block[1], g.block[2]}, g.shared_bytes};
}

Timeout timeout_of(std::int64_t nanoseconds)
{
    return nanoseconds < 0 ? Timeout() : Timeout(std::chrono::nanoseconds(nanoseconds));
}

/* Nothing came or went. */
int stopped_or_late(const ptask_graph &graph)
{
    return graph.graph.is_stopped() ? fail(EPIPE, "the graph was terminated") : fail(ETIMEDOUT, "the time is up");
}

Callback callback_of(ptask_function function, void *context)
{
    return [=](Call &call) { throw_if_refused(function(context, reinterpret_cast<ptask_call *>(&call))); };
}

/* The members that say where a kernel is. */
std::string places_of(const ptask_code &code)
{
    return ptsched::names_of_set({{"module", code.module},
                                  {"cuda_source", code.cuda_source},
                                  {"opencl_source", code.opencl_source},
                                  {"image", code.image}});
}

void check_code(const std::string &name, const ptask_code &code)
{
    const std::string places = places_of(code);
    const bool is_kernel = code.kernel || !places.empty();
    if (is_kernel + (code.function != nullptr) + (code.stream_function != nullptr) != 1)
        throw Error("task " + name + " needs a kernel or a function, and not both");
    if (!is_kernel)
        return;
    if (!code.kernel)
        throw Error("task " + name + " has " + places + ", and not the name of the kernel there");
    if (places.empty() || places.find(' ') != std::string::npos)
        throw Error("task " + name + ": kernel " + code.kernel +
                    " needs one of module, image, cuda_source and opencl_source" + ", and has " +
                    (places.empty() ? "none" : places));
}

StreamFunction stream_function_of(ptask_stream_function function, void *context)
{
    return [=](StreamCall &call) { throw_if_refused(function(context, reinterpret_cast<ptask_stream_call *>(&call))); };
}

Source source_of(const ptask_code &code, const std::optional<Geometry> &geometry)
{
    Source source{code.cuda_source, code.kernel, geometry};
    source.options = ptsched::strings_of(code.options, code.option_count, "options", "option");
    ptsched::for_each_known(code.headers, code.header_count, first_header, "ptask_header", "headers",
                            [&](const ptask_header &header) {
                                source.headers.emplace_back(&needed(header.name, "name of a header"),
                                                            &needed(header.text, "text of a header"));
                            });
    return source;
}

Task &make_task(Graph &graph, const std::string &name, const ptask_code &code, const std::vector<PortOptions> &options)
{
    std::optional<Geometry> geometry;
    check_code(name, code);
    if (code.geometry)
        geometry = geometry_of(*code.geometry);
    if (code.function)
        return graph.callback(name, callback_of(code.function, code.context), options,
                              code.is_concurrent ? Calls::concurrent : Calls::in_order);
    if (code.cuda_source)
        return graph.cuda_source(name, source_of(code, geometry), options);
    if (code.stream_function)
        return graph.cuda_call(name, stream_function_of(code.stream_function, code.context), options);
    if (code.image)
        return graph.cuda_image(
            name,
            image_of(std::span(static_cast<const std::byte *>(code.image), code.image_bytes), code.kernel, geometry),
            options);
    if (code.opencl_source)
        return graph.opencl(name, {code.opencl_source, code.kernel, geometry}, options);
    return graph.cuda(name, {code.module, code.kernel, geometry}, options);
}

} // namespace

const char *ptask_error_text(void)
{
    return ptsched::error_text();
}

int ptask_set_log(ptask_log log, void *context)
{
    return attempt([&] {
        set_log(log ? Log([=](const std::string &line) { log(context, line.c_str()); }) : Log());
        return 0;
    });
}

int ptask_open_graph(unsigned int mode, struct ptask_graph **graph)
{
    return ptask_open_graph_on(mode, nullptr, 0, graph);
}

int ptask_open_graph_on(unsigned int mode, const char *const *devices, std::size_t count, struct ptask_graph **graph)
{
    return attempt([&] {
        GraphOptions options;
        options.devices = ptsched::strings_of(devices, count, "devices", "device");
        constexpr unsigned int flags = PTASK_ATTACH | PTASK_MUST_ATTACH;
        if (mode & PTASK_MUST_ATTACH)
            options.attach = Attach::required;
        else if (mode & PTASK_ATTACH)
            options.attach = Attach::if_possible;
        switch (mode & ~flags) {
        case PTASK_MODE_DATA_AWARE:
            options.mode = Mode::data_aware;
            break;
        case PTASK_MODE_PRIORITY:
            options.mode = Mode::priority;
            break;
        case PTASK_MODE_FIFO:
            options.mode = Mode::fifo;
            break;
        case PTASK_MODE_FIRST_AVAILABLE:
            options.mode = Mode::first_available;
            break;
        default:
            throw Error("there is no mode " + std::to_string(mode));
        }
        auto &handle = needed(graph, "graph");
        handle = new ptask_graph(options);
        return 0;
    });
}

void ptask_close_graph(struct ptask_graph *graph)
{
    delete graph;
}

int ptask_open_template(struct ptask_graph *graph, const std::size_t dimensions[3], std::size_t stride,
                        unsigned int layout, unsigned int binding, struct ptask_template **form)
{
    return attempt([&] {
        const std::size_t *d = &needed(dimensions, "dimensions");
        if (layout > PTASK_OPAQUE || binding > PTASK_BY_VALUE)
            throw Error("there is no layout " + std::to_string(layout) + " or no binding " + std::to_string(binding));
        Template made{{d[0], d[1], d[2]}, stride, static_cast<Layout>(layout), static_cast<Binding>(binding)};
        needed(form, "form") = &needed(graph, "graph").templates.emplace_back(ptask_template{made});
        return 0;
    });
}

int ptask_set_type(struct ptask_template *form, unsigned int type)
{
    struct Type {
        const std::type_info *info;
        std::size_t bytes;
    };
    static const Type types[] = {{nullptr, 0},
                                 {&typeid(std::int8_t), 1},
                                 {&typeid(std::uint8_t), 1},
                                 {&typeid(std::int16_t), 2},
                                 {&typeid(std::uint16_t), 2},
                                 {&typeid(std::int32_t), 4},
                                 {&typeid(std::uint32_t), 4},
                                 {&typeid(std::int64_t), 8},
                                 {&typeid(std::uint64_t), 8},
                                 {&typeid(float), sizeof(float)},
                                 {&typeid(double), sizeof(double)}};
    return attempt([&] {
        if (type >= std::size(types))
            throw Error("there is no type " + std::to_string(type) + " of records");
        Template &changed = needed(form, "form").form;
        if (types[type].info && types[type].bytes != changed.stride)
            throw Error("records of " + std::to_string(changed.stride) + " bytes cannot be of type " +
                        type_name(*types[type].info) + ", which has " + std::to_string(types[type].bytes));
        changed.type = types[type].info;
        return 0;
    });
}

int ptask_open_port(struct ptask_graph *graph, const char *name, unsigned int kind, const struct ptask_template *form,
                    struct ptask_port **port)
{
    return attempt([&] {
        if (kind > PTASK_CONDITION)
            throw Error("there is no kind " + std::to_string(kind) + " of ports");
        static constexpr PortKind kinds[] = {PortKind::input, PortKind::output,   PortKind::sticky,
                                             PortKind::inout, PortKind::metadata, PortKind::condition};
        PortOptions options{&needed(name, "name"), kinds[kind], needed(form, "form").form};
        needed(port, "port") = &needed(graph, "graph").ports.emplace_back(ptask_port{graph, std::move(options)});
        return 0;
    });
}

int ptask_set_initial(struct ptask_port *port, const void *content, std::size_t bytes)
{
    return attempt([&] {
        if (needed(port, "port").port)
            throw Error("port " + port->options.name + " belongs to a ptask already");
        port->options.initial = Datablock::of(&needed(static_cast<const char *>(content), "content"), bytes);
        return 0;
    });
}

int ptask_set_size_from(struct ptask_port *port, const struct ptask_port *other)
{
    return attempt([&] {
        if (needed(port, "port").port)
            throw Error("port " + port->options.name + " belongs to a ptask already");
        port->options.size_from = needed(other, "other").options.name;
        return 0;
    });
}

int ptask_open_ptask(struct ptask_graph *graph, const char *name, const struct ptask_code *code,
                     struct ptask_port *const *ports, std::size_t count, struct ptask **task)
{
    return attempt([&] {
        std::vector<PortOptions> options;
        for (std::size_t i = 0; i < count; i++) {
            const ptask_port &port = needed((&needed(ports, "ports"))[i], "port");
            if (port.port || port.graph != graph)
                throw Error("port " + port.options.name + " belongs to another ptask or graph");
            options.push_back(port.options);
        }
        auto &handle = needed(task, "task");
        const ptask_code known = ptsched::as_known(needed(code, "code"), first_code, "ptask_code");
        Task &made = make_task(needed(graph, "graph").graph, &needed(name, "name"), known, options);
        for (std::size_t i = 0; i < count; i++)
            ports[i]->port = &made[ports[i]->options.name];
        handle = &graph->tasks.emplace_back(ptask{made});
        return 0;
    });
}

int ptask_open_channel(struct ptask_graph *graph, struct ptask_port *from, struct ptask_port *to, std::size_t capacity,
                       struct ptask_channel **channel)
{
    return attempt([&] {
        Graph &made = needed(graph, "graph").graph;
        auto &handle = needed(channel, "channel");
        ptask_channel opened{graph};
        if (!from && !to)
            throw Error("a channel needs a port at one end");
        if (!from)
            opened.input = &made.input(bound(to), capacity);
        else if (!to)
            opened.output = &made.output(bound(from), capacity);
        else {
            made.connect(bound(from), bound(to), capacity);
            opened.to = to->port;
        }
        handle = &graph->channels.emplace_back(opened);
        return 0;
    });
}

int ptask_extend_channel(struct ptask_channel *channel, struct ptask_port *to, std::size_t capacity)
{
    return attempt([&] {
        const ptask_channel &extended = needed(channel, "channel");
        if (!extended.input)
            throw Error("only a channel from the program can lead to several ports");
        extended.graph->graph.connect(*extended.input, bound(&needed(to, "to")), capacity);
        return 0;
    });
}

int ptask_open_loop(struct ptask_graph *graph, struct ptask_port *from, struct ptask_port *to, struct ptask_port *again)
{
    return attempt([&] {
        needed(graph, "graph")
            .graph.loop(bound(&needed(from, "from")), bound(&needed(to, "to")), bound(&needed(again, "again")));
        return 0;
    });
}

int ptask_open_datablock(const void *content, std::size_t bytes, struct ptask_datablock **block)
{
    return attempt([&] {
        DatablockPtr made = Datablock::of(&needed(static_cast<const char *>(content), "content"), bytes);
        auto &handle = needed(block, "block");
        handle = new ptask_datablock{std::move(made)};
        return 0;
    });
}

int ptask_read_datablock(struct ptask_datablock *block, const void **content, std::size_t *bytes)
{
    return attempt([&] {
        needed(content, "content") = needed(still_there(block).block.get(), "the datablock's content").read();
        if (bytes)
            *bytes = block->block->bytes();
        return 0;
    });
}

void ptask_put_datablock(struct ptask_datablock *block)
{
    if (block)
        retire(block);
}

std::size_t ptask_trim(void)
{
    return trim();
}

int ptask_push(struct ptask_channel *channel, struct ptask_datablock *block, std::int64_t timeout_ns)
{
    return ptask_send(channel, block, !block, nullptr, timeout_ns);
}

int ptask_send(struct ptask_channel *channel, struct ptask_datablock *block, int end_of_stream, const char *error,
               std::int64_t timeout_ns)
{
    return attempt([&] {
        Input &input = needed(needed(channel, "channel").input, "the source of the channel is a port: its input");
        Item item{block ? still_there(block).block : nullptr, end_of_stream != 0};
        if (error)
            item.error = std::make_shared<const std::string>(error);
        /* Nobody else has it then, so that it may be changed in place. */
        if (block)
            block->block.reset();
        bool pushed = false;
        int failure = attempt([&] {
            pushed = input.send(std::move(item), timeout_of(timeout_ns));
            return 0;
        });
        if (block && pushed)
            retire(block);
        else if (block)
            block->block = std::move(item.block);
        return pushed || failure ? failure : stopped_or_late(*channel->graph);
    });
}

int ptask_pull(struct ptask_channel *channel, struct ptask_datablock **block, std::int64_t timeout_ns)
{
    return attempt([&] {
        Output &output =
            needed(needed(channel, "channel").output, "the destination of the channel is a port: its output");
        auto &handle = needed(block, "block");
        std::optional<Item> item = output.take_before_end(timeout_of(timeout_ns));
        if (!item)
            return stopped_or_late(*channel->graph);
        if (item->error)
            return fail(EBADMSG, item->error->c_str());
        if (!item->block)
            return fail(ENODATA, "the end of the stream");
        handle = new ptask_datablock{std::move(item->block)};
        return 0;
    });
}

int ptask_run_graph(struct ptask_graph *graph)
{
    return attempt([&] {
        needed(graph, "graph").graph.run();
        return 0;
    });
}

int ptask_drain_graph(struct ptask_graph *graph, std::int64_t timeout_ns)
{
    return attempt([&] {
        const bool drained = needed(graph, "graph").graph.drain(timeout_of(timeout_ns));
        return drained ? 0 : stopped_or_late(*graph);
    });
}

int ptask_get_descriptor(struct ptask_channel *channel, int *fd)
{
    return attempt([&] {
        Output &output =
            needed(needed(channel, "channel").output, "the destination of the channel is a port: its output");
        needed(fd, "fd") = output.descriptor();
        return 0;
    });
}

int ptask_get_depth(const struct ptask_channel *channel, std::size_t *blocks, std::size_t *capacity)
{
    return attempt([&] {
        Depth depth;
        if (needed(channel, "channel").to) {
            const PortState state = channel->to->state();
            depth = {state.blocks, state.capacity};
        } else {
            depth = channel->input ? channel->input->depth() : channel->output->depth();
        }
        if (blocks)
            *blocks = depth.blocks;
        if (capacity)
            *capacity = depth.capacity;
        return 0;
    });
}

int ptask_get_port_state(const struct ptask_port *port, int *occupied)
{
    return attempt([&] {
        needed(occupied, "occupied") = bound(&needed(port, "port")).state().occupied;
        return 0;
    });
}

int ptask_terminate_graph(struct ptask_graph *graph)
{
    return attempt([&] {
        needed(graph, "graph").graph.stop();
        return 0;
    });
}

int ptask_work_for(struct ptask_graph *graph, int pidfd)
{
    return attempt([&] {
        needed(graph, "graph").graph.work_for(pidfd);
        return 0;
    });
}

int ptask_set_ptask_prio(struct ptask *task, int static_priority, int proxy_priority)
{
    return attempt([&] {
        needed(task, "task").task.set_priority(static_priority);
        task->task.set_proxy_priority(proxy_priority);
        return 0;
    });
}

int ptask_get_state(const struct ptask *task, unsigned int *state)
{
    static_assert(static_cast<unsigned int>(State::waiting) == PTASK_STATE_WAITING &&
                  static_cast<unsigned int>(State::queued) == PTASK_STATE_QUEUED &&
                  static_cast<unsigned int>(State::executing) == PTASK_STATE_EXECUTING &&
                  static_cast<unsigned int>(State::completed) == PTASK_STATE_COMPLETED);
    return attempt([&] {
        auto &result = needed(state, "state");
        result = static_cast<unsigned int>(needed(task, "task").task.state());
        return 0;
    });
}

int ptask_set_geometry(struct ptask *task, const struct ptask_geometry *geometry)
{
    return attempt([&] {
        needed(task, "task").task.set_geometry(geometry_of(needed(geometry, "geometry")));
        return 0;
    });
}
