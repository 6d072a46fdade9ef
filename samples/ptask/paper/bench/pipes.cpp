// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/bench/pipes.hpp"

#include "samples/ptask/paper/bench/child.hpp"

#include <cerrno>
#include <cstdio>
#include <sys/socket.h>

namespace ptsched::paper {

namespace {

class Pipes final : public Executor {
public:
    Pipes(const std::string &module, const Scene &scene, const Deliver &deliver) : deliver_(deliver)
    {
        /* Not a pipe, which would end this process when nobody reads any more. */
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
            throw Error(std::string("cannot make a socket: ") + std::strerror(errno));
        trigger_.reset(ends[0]);
        UniqueFd from(ends[1]);
        const std::string size = std::to_string(scene.filter.width) + "x" + std::to_string(scene.filter.height);
        for (const std::vector<std::string> &words : {std::vector<std::string>{"catusb", "--trigger", "--size", size},
                                                      {"xform", "--module", module},
                                                      {"filter", "--module", module},
                                                      {"hidinput"}}) {
            Pipe pipe;
            programs_.emplace_back("gesture", words, from.get(), pipe.writer.get());
            from = std::move(pipe.reader);
        }
        events_.reset(fdopen(from.get(), "r"));
        if (!events_)
            throw Error(std::string("cannot read a pipe: ") + std::strerror(errno));
        from.release();
    }

    void prepare(unsigned) override {}

    void run(unsigned count) override
    {
        const std::string triggers(count, '!');
        for (std::size_t done = 0; done < count;) {
            ssize_t n = send(trigger_.get(), triggers.data() + done, count - done, MSG_NOSIGNAL);
            if (n < 0 && errno != EINTR)
                throw Error(ended);
            done += n > 0 ? static_cast<std::size_t>(n) : 0;
        }
        for (unsigned i = 0; i < count; i++) {
            char line[128];
            if (!std::fgets(line, sizeof(line), events_.get()))
                throw Error(ended);
            hand_ = hand_of(line);
            deliver_(hand_);
        }
        runs_ += count;
    }

    std::vector<Content> results() override { return {content_of(hand_)}; }
    unsigned last_set() const override { return (runs_ - 1) % recorded_frames; }

private:
    static constexpr const char *ended = "one of the four programs has ended";

    struct Close {
        void operator()(std::FILE *file) const { std::fclose(file); }
    };
    std::vector<Child> programs_; /* end when what follows is closed */
    UniqueFd trigger_;
    std::unique_ptr<std::FILE, Close> events_;
    const Deliver deliver_;
    Hand hand_{};
    unsigned runs_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_pipes(const Gpu &gpu, const Scene &scene, const Deliver &deliver)
{
    return std::make_unique<Pipes>(gpu.module_path(), scene, deliver);
}

} // namespace ptsched::paper
