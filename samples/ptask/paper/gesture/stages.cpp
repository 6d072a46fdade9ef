// SPDX-License-Identifier: MIT
/* The four programs that a shell joins by pipes. They know nothing of each other but what a frame is. */
#include "samples/ptask/paper/gesture/commands.hpp"
#include "samples/ptask/paper/gesture/events.hpp"
#include "samples/ptask/paper/gesture/frames.hpp"

#include <array>
#include <cerrno>
#include <unistd.h>

namespace ptsched::paper {

namespace {

/* Frames that are to be written now; none at the end. */
std::size_t wait_for_trigger()
{
    char bytes[256];
    ssize_t n;
    do
        n = read(STDIN_FILENO, bytes, sizeof(bytes));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        throw Error(std::string("cannot read the trigger: ") + std::strerror(errno));
    return static_cast<std::size_t>(n);
}

/* Copies each frame in, lets the GPU work on it, and copies out what that makes of it. */
void work(const GestureOptions &options, Frames from, Frames to, Workload (*make)(const Scene &, const Give &))
{
    FrameReader reader(STDIN_FILENO, from);
    const Scene scene(reader.width(), reader.height());
    FrameWriter writer(STDOUT_FILENO, to, reader.width(), reader.height());
    Workload workload = make(scene, [&](const std::vector<const std::uint32_t *> &results) {
        for (const std::uint32_t *image : results)
            writer.write(image);
    });
    Gpu gpu(options.module);
    auto executor = make_modular(gpu, workload);
    std::vector<Content *> inputs;
    for (Value &value : workload.values)
        if (value.is_input())
            inputs.push_back(&value.contents[0]);
    while (!writer.reader_is_gone() && reader.read(inputs))
        executor->run(1);
}

} // namespace

void catusb(const GestureOptions &options)
{
    const Scene scene(options.width, options.height);
    std::array<Content, 2> recording[recorded_frames];
    FrameWriter writer(STDOUT_FILENO, Frames::pictures, options.width, options.height);
    std::size_t next = 0;

    for (unsigned frame = 0; frame < recorded_frames; frame++)
        recording[frame] = {picture(scene, 0, frame), picture(scene, 1, frame)};
    auto write = [&](std::size_t count) {
        for (; count && !writer.reader_is_gone(); count--)
            for (const Content &image : recording[next++ % recorded_frames])
                writer.write(image.data());
    };
    if (!options.trigger) {
        write(options.frames);
        return;
    }
    while (std::size_t count = wait_for_trigger())
        write(count);
}

void xform(const GestureOptions &options)
{
    work(options, Frames::pictures, Frames::clouds, xform_alone);
}

void filter(const GestureOptions &options)
{
    work(options, Frames::clouds, Frames::cloud, filter_alone);
}

void hidinput(const GestureOptions &options)
{
    auto events = open_events(options.to);
    FrameReader reader(STDIN_FILENO, Frames::cloud);
    Content cloud;
    while (!events->reader_is_gone() && reader.read({&cloud}))
        events->deliver(find_hand(reinterpret_cast<const float *>(cloud.data()), reader.width(), reader.height()));
}

} // namespace ptsched::paper
