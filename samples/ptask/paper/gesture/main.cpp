// SPDX-License-Identifier: MIT
/* gesture: the PTask paper's gestural interface, as four programs for pipes and as one program. */
#include "samples/ptask/example.hpp"
#include "samples/ptask/paper/executor.hpp"
#include "samples/ptask/paper/gesture/commands.hpp"
#include "samples/ptask/paper/gesture/frames.hpp"
#include "samples/ptask/paper/number.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>

using namespace ptsched::paper;

namespace {

/* Which options a command has, as bits. */
enum { frames = 1, size = 2, trigger = 4, to = 8, module = 16, help = 32 };
constexpr int all_of_it = frames | size | to | module;

struct Command {
    const char *name, *description;
    int options;
    void (*run)(const GestureOptions &options); /* null: whole() */
};

const Command commands[] = {
    {"catusb", "writes the pictures of two depth cameras", frames | size | trigger, catusb},
    {"xform", "makes clouds of points of them, on a GPU", module, xform},
    {"filter", "makes one cloud without noise of both, on a GPU", module, filter},
    {"hidinput", "finds the hand in it, and tells where it is", to, hidinput},
    {"ptask", "all of it in one program, as a graph of ptasks", all_of_it, nullptr},
    {"handcode", "the same by hand: one thread, copies that wait", all_of_it, nullptr},
    {"best", "the same by hand, in the way that is the fastest on trial", all_of_it, nullptr},
    {"modular", "the same of modules, in one thread", all_of_it, nullptr},
    {"modular-threads", "the same of modules, in four threads", all_of_it, nullptr},
    {"host", "the same without a GPU", frames | size | to, nullptr},
};

const option known_options[] = {
    {"frames", required_argument, nullptr, frames},
    {"size", required_argument, nullptr, size},
    {"trigger", no_argument, nullptr, trigger},
    {"to", required_argument, nullptr, to},
    {"module", required_argument, nullptr, module},
    {"help", no_argument, nullptr, help},
    {},
};

[[noreturn]] void usage(int status)
{
    std::FILE *out = status ? stderr : stdout;
    std::fprintf(out,
                 "usage: gesture COMMAND [OPTION]...\n"
                 "The gestural interface of the PTask paper with two synthetic cameras:\n\n"
                 "  gesture catusb | gesture xform | gesture filter | gesture hidinput\n"
                 "  gesture ptask\n\n"
                 "Each frame gives a line: where the hand is, from left to right and from top to bottom in parts of\n"
                 "the picture, how many metres from the screen, and which part of the picture it fills.\n\n");
    for (const Command &command : commands) {
        std::fprintf(out, "  %-16s %s\n                  ", command.name, command.description);
        for (const option *known = known_options; known->name; known++)
            if (known->val & command.options)
                std::fprintf(out, " --%s", known->name);
        std::fputc('\n', out);
    }
    std::fprintf(
        out,
        "\n"
        "  --frames N       so many frames (default: 1000)\n"
        "  --size WxH       pictures of so many pixels, each side from %u to %u (default: 640x480)\n"
        "  --trigger        a frame for each byte of standard input, until that ends, instead of N\n"
        "  --to FILE        lines go to a file; \"-\" is standard output (default); \"uinput\" moves the\n"
        "                   pointer of this machine instead (/dev/uinput)\n"
        "  --module FILE    the kernels, made by nvcc (default: paper.fatbin beside the program); for ptask also in\n"
        "                   OpenCL C (paper.cl)\n"
        "  --help           this text\n",
        least_side, most_side);
    std::exit(example::finish(status));
}

template <typename... Words> [[noreturn]] void refuse(const char *form, Words... words)
{
    std::fputs("gesture: ", stderr);
    std::fprintf(stderr, form, words...);
    std::fputc('\n', stderr);
    std::exit(2);
}

void read_size(GestureOptions &options, const std::string &text)
{
    const std::size_t cross = text.find('x');
    const auto width = number_of(text.substr(0, cross), least_side, most_side);
    const auto height = cross == text.npos ? std::nullopt : number_of(text.substr(cross + 1), least_side, most_side);
    if (!width || !height)
        refuse("--size needs WIDTHxHEIGHT, each from %u to %u, such as 640x480, not \"%s\"", least_side, most_side,
               text.c_str());
    options.width = *width;
    options.height = *height;
}

GestureOptions parse(const Command &command, int argc, char **argv)
{
    constexpr unsigned most_frames = 100000000;
    GestureOptions options;
    options.module = default_module();
    for (int which, index = 0; (which = getopt_long(argc, argv, "", known_options, &index)) != -1;) {
        if (which == '?')
            usage(2);
        if (which == help)
            usage(0);
        if (!(which & command.options))
            refuse("%s has no option --%s; see gesture --help", command.name, known_options[index].name);
        switch (which) {
        case frames:
            if (auto count = number_of(optarg, 1, most_frames))
                options.frames = *count;
            else
                refuse("--frames needs a number from 1 to %u, not \"%s\"", most_frames, optarg);
            break;
        case size:
            read_size(options, optarg);
            break;
        case trigger:
            options.trigger = true;
            break;
        case to:
            options.to = optarg;
            break;
        case module:
            options.module = optarg;
            break;
        }
    }
    if (optind < argc)
        refuse("what is \"%s\"? See gesture --help", argv[optind]);
    return options;
}

const Command &command_of(int argc, char **argv)
{
    const std::string name = argc > 1 ? argv[1] : "";
    if (name.empty() || name == "--help")
        usage(name.empty() ? 2 : 0);
    for (const Command &command : commands)
        if (name == command.name)
            return command;
    refuse("there is no command \"%s\"; see gesture --help", name.c_str());
}

} // namespace

int main(int argc, char **argv)
{
    const Command &command = command_of(argc, argv);
    const GestureOptions options = parse(command, argc - 1, argv + 1);
    /* Who writes is told that nobody reads any more, and ends as at the end of the frames. */
    std::signal(SIGPIPE, SIG_IGN);
    try {
        if (command.run)
            command.run(options);
        else
            whole(command.name, options);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "gesture %s: %s\n", command.name, error.what());
        return 1;
    }
    return example::finish(0);
}
