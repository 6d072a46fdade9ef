/* SPDX-License-Identifier: MIT */
/* What the programs of the gestural interface give each other through pipes: a header, and frames of a fixed size. */
#ifndef PTSCHED_PAPER_FRAMES_HPP
#define PTSCHED_PAPER_FRAMES_HPP

#include "samples/ptask/paper/workload.hpp"

namespace ptsched::paper {

constexpr unsigned least_side = 1, most_side = 4096; /* of a picture, in pixels */

/* Of each frame there are two pictures, then two clouds of points, then one. */
enum class Frames : std::uint32_t { pictures = 1, clouds, cloud };

class FrameWriter {
public:
    /* Writes the header to @fd, which stays the caller's. Throws Error if it cannot. */
    FrameWriter(int fd, Frames what, unsigned width, unsigned height);
    /* Blocks until the reader has room. Does nothing once there is no reader; throws Error for any other failure. */
    void write(const std::uint32_t *image);
    bool reader_is_gone() const { return gone_; }

private:
    void write_all(const void *data, std::size_t bytes);

    int fd_;
    std::size_t bytes_; /* of an image */
    bool gone_ = false;
};

class FrameReader {
public:
    /* Reads the header. Throws Error if it is not there, or of other frames than @what. */
    FrameReader(int fd, Frames what);
    unsigned width() const { return width_; }
    unsigned height() const { return height_; }
    /* Blocks. False at the end of the stream; throws Error if that is within a frame. */
    bool read(const std::vector<Content *> &images);

private:
    int fd_;
    unsigned width_ = 0, height_ = 0;
    std::uint64_t frames_ = 0; /* read so far */
};

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_FRAMES_HPP */
