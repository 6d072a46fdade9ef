// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/gesture/events.hpp"

#include <ptsched/base/fd.hpp>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>

namespace ptsched::paper {

namespace {

constexpr std::chrono::seconds between_words{2};

class Lines final : public Events {
public:
    explicit Lines(const std::string &path) : name_(path == "-" ? "standard output" : path)
    {
        if (path == "-") {
            fd_ = STDOUT_FILENO;
            tells_progress_ = false;
            return;
        }
        own_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!own_)
            throw Error("cannot write " + path + ": " + std::strerror(errno));
        fd_ = own_.get();
    }

    bool reader_is_gone() const override { return gone_; }

private:
    void write(const Hand &hand) override
    {
        const std::string line = line_of(hand);
        for (std::size_t done = 0; done < line.size() && !gone_;) {
            ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
            if (n >= 0)
                done += static_cast<std::size_t>(n);
            else if (errno == EPIPE)
                gone_ = true;
            else if (errno != EINTR)
                throw Error("cannot write the events to " + name_ + ": " + std::strerror(errno));
        }
    }

    std::string name_;
    UniqueFd own_;
    int fd_ = -1;
    bool gone_ = false;
};

} // namespace

void Events::deliver(const Hand &hand)
{
    write(hand);
    delivered_++;
    const auto now = std::chrono::steady_clock::now();
    if (!tells_progress_ || now - told_ < between_words)
        return;
    std::fprintf(stderr, "... %llu frames\n", static_cast<unsigned long long>(delivered_));
    told_ = now;
}

std::unique_ptr<Events> open_events(const std::string &to)
{
    return to == "uinput" ? open_uinput() : std::make_unique<Lines>(to);
}

} // namespace ptsched::paper
