// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/gesture/frames.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ptsched::paper {

namespace {

constexpr int pipe_bytes = 1 << 20; /* as much as anybody may have */

struct Header {
    char magic[8];
    std::uint32_t what, width, height;
};
constexpr char magic[sizeof(Header::magic)] = "gesture";

const char *name_of(std::uint32_t what)
{
    switch (Frames{what}) {
    case Frames::pictures:
        return "pictures, which catusb writes";
    case Frames::clouds:
        return "clouds of points, which xform writes";
    case Frames::cloud:
        return "a filtered cloud of points, which filter writes";
    }
    return "something else";
}

/* Fewer than @bytes only at the end of the stream. */
std::size_t read_up_to(int fd, void *to, std::size_t bytes)
{
    std::size_t done = 0;
    while (done < bytes) {
        ssize_t n = ::read(fd, static_cast<char *>(to) + done, bytes - done);
        if (n == 0)
            break;
        if (n > 0)
            done += static_cast<std::size_t>(n);
        else if (errno != EINTR)
            throw Error(std::string("cannot read frames: ") + std::strerror(errno));
    }
    return done;
}

bool is_side(std::uint32_t pixels)
{
    return pixels >= least_side && pixels <= most_side;
}

} // namespace

FrameWriter::FrameWriter(int fd, Frames what, unsigned width, unsigned height)
    : fd_(fd), bytes_(std::size_t{width} * height * sizeof(std::uint32_t))
{
    Header header{{}, static_cast<std::uint32_t>(what), width, height};
    std::memcpy(header.magic, magic, sizeof(magic));
    if (isatty(fd))
        throw Error("frames are no text for a terminal: the next program of the pipe is to read them");
    /* It needs not be one. */
    fcntl(fd, F_SETPIPE_SZ, pipe_bytes);
    write_all(&header, sizeof(header));
}

void FrameWriter::write(const std::uint32_t *image)
{
    write_all(image, bytes_);
}

void FrameWriter::write_all(const void *data, std::size_t bytes)
{
    for (std::size_t done = 0; done < bytes && !gone_;) {
        ssize_t n = ::write(fd_, static_cast<const char *>(data) + done, bytes - done);
        if (n >= 0)
            done += static_cast<std::size_t>(n);
        else if (errno == EPIPE)
            gone_ = true;
        else if (errno != EINTR)
            throw Error(std::string("cannot write frames: ") + std::strerror(errno));
    }
}

FrameReader::FrameReader(int fd, Frames what) : fd_(fd)
{
    const std::string needed = std::string("; needed are ") + name_of(static_cast<std::uint32_t>(what));
    Header header{};
    if (read_up_to(fd, &header, sizeof(header)) != sizeof(header))
        throw Error("the input ends before its first frame" + needed);
    if (std::memcmp(header.magic, magic, sizeof(magic)))
        throw Error("the input is no stream of frames" + needed);
    if (Frames{header.what} != what)
        throw Error(std::string("the input has ") + name_of(header.what) + needed);
    if (!is_side(header.width) || !is_side(header.height))
        throw Error("frames of " + std::to_string(header.width) + "x" + std::to_string(header.height) +
                    " pixels: each side is to be from " + std::to_string(least_side) + " to " +
                    std::to_string(most_side));
    width_ = header.width;
    height_ = header.height;
}

bool FrameReader::read(const std::vector<Content *> &images)
{
    const std::size_t bytes = std::size_t{width_} * height_ * sizeof(std::uint32_t);
    for (std::size_t i = 0; i < images.size(); i++) {
        images[i]->resize(std::size_t{width_} * height_);
        const std::size_t got = read_up_to(fd_, images[i]->data(), bytes);
        if (got == 0 && i == 0)
            return false;
        if (got != bytes)
            throw Error("the input ends within frame " + std::to_string(frames_) + ", after " +
                        std::to_string(i * bytes + got) + " of " + std::to_string(images.size() * bytes) + " bytes");
    }
    frames_++;
    return true;
}

} // namespace ptsched::paper
