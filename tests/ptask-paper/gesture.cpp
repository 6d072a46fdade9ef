// SPDX-License-Identifier: MIT
/* The programs of the gestural interface, as a user starts them from a shell. */
#include "samples/ptask/paper/gestures.hpp"
#include "tests/ptask-paper/paper_test.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/pocl.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ptsched::paper;

namespace {

constexpr unsigned width = 48, height = 40, frames = 6;
const std::string size = "--size 48x40", count = "--frames 6";

struct Ended {
    int status;
    std::string out, err;
};

/* A folder of its own for each shell, which is $D there; $M are the kernels. Its files go with it. */
class Shell {
public:
    Shell() : folder_("/tmp/ptask-gesture-XXXXXX")
    {
        if (!mkdtemp(folder_.data()))
            throw std::runtime_error("cannot make a folder");
    }
    ~Shell() { std::filesystem::remove_all(folder_); }
    Shell(const Shell &) = delete;
    Shell &operator=(const Shell &) = delete;

    /* All of the commands of a pipe must succeed. */
    Ended run(const std::string &script) const
    {
        /* Not of the shell itself: as in figures.cpp, and for the programs alone. */
        const std::string preloaded = "gesture() { LD_PRELOAD='" + test::folder() + "/libcuda.so.1' '" +
                                      test::sample("gesture") + "' \"$@\"; }\n";
        std::ofstream(folder_ + "/script") << "set -o pipefail\nD=" << folder_ << " M=" << test::folder()
                                           << "/paper.so S=" << test::folder() << "/../samples\n"
                                           << preloaded << script << '\n';
        const std::string to = folder_ + "/out 2>" + folder_ + "/err";
        int status = std::system(("bash " + folder_ + "/script >" + to).c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content("out"), content("err")};
    }

    std::string content(const std::string &name) const
    {
        std::ifstream stream(folder_ + "/" + name);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

private:
    std::string folder_;
};

const std::string pipeline = "gesture catusb " + count + " " + size +
                             " | gesture xform --module $M | gesture filter --module $M | gesture hidinput";

void says(const Ended &ended, int status, const std::string &text)
{
    CHECK_EQ(ended.status, status);
    if (!CHECK(ended.err.find(text) != std::string::npos))
        std::printf("# \"%s\" is not in: %s\n", text.c_str(), ended.err.c_str());
}

/* One event for each frame, in their order. */
void are_expected(const std::string &lines, const std::string &who)
{
    const Workload workload = gestures(Scene(width, height));
    std::istringstream stream(lines);
    unsigned frame = 0;
    for (std::string line; std::getline(stream, line); frame++) {
        auto expected = workload.expected(frame % workload.sets);
        auto problem = difference(workload, expected, {content_of(hand_of(line))});
        if (!CHECK(problem.empty()))
            std::printf("# %s, frame %u: %s\n", who.c_str(), frame, problem.c_str());
    }
    CHECK_EQ(frame, frames);
}

void pipe_and_graph_agree()
{
    Shell shell;
    const Ended pipe = shell.run(pipeline);
    CHECK_EQ(pipe.status, 0);
    CHECK(pipe.err.empty());
    are_expected(pipe.out, "pipes");
    for (const char *way : {"ptask", "handcode", "best", "modular", "modular-threads", "host"}) {
        const std::string module = way == std::string("host") ? "" : " --module $M";
        const Ended whole = shell.run(std::string("gesture ") + way + " " + count + " " + size + module);
        CHECK_EQ(whole.status, 0);
        are_expected(whole.out, way);
        /* Another compiler may have rounded what is on the host. */
        if (way != std::string("host"))
            CHECK(whole.out == pipe.out);
    }
    const Ended opencl = shell.run("gesture ptask " + count + " " + size + " --module $S/paper.cl");
    CHECK_EQ(opencl.status, 0);
    are_expected(opencl.out, "OpenCL");
}

void events_go_to_a_file()
{
    Shell shell;
    CHECK_EQ(shell.run(pipeline + " --to $D/events").status, 0);
    are_expected(shell.content("events"), "a file");
    CHECK_EQ(shell.run("gesture host --frames 1 " + size + " --to $D/events").status, 0);
    CHECK_EQ(shell.content("events").find('\n') + 1, shell.content("events").size());
    says(shell.run("gesture host " + size + " --to $D/none/events"), 1, "cannot write");
    says(shell.run("gesture ptask " + size + " --module $M --to /dev/full"), 1, "/dev/full: No space left");
}

void a_trigger_takes_a_frame()
{
    Shell shell;
    const Ended four = shell.run("printf 1234 | gesture catusb --trigger " + size + " >$D/four; gesture catusb " +
                                 size + " --frames 4 | cmp - $D/four");
    says(four, 0, "");
    CHECK(shell.content("four").size() > 4 * 2 * std::size_t{width} * height * 4);
}

void input_that_is_wrong()
{
    Shell shell;
    const std::string catusb = "gesture catusb " + count + " " + size;
    says(shell.run(catusb + " | head -c 20000 | gesture xform --module $M >$D/x"), 1,
         "the input ends within frame 1, after 4620 of 15360 bytes");
    says(shell.run("gesture xform --module $M </dev/null >$D/x"), 1, "ends before its first frame");
    says(shell.run("yes | gesture xform --module $M >$D/x"), 1, "no stream of frames");
    says(shell.run(catusb + " | gesture filter --module $M >$D/x"), 1, "has pictures");
    says(shell.run("printf 'gesture\\0\\3\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0' | gesture hidinput"), 1,
         "frames of 0x1 pixels");
    says(shell.run(catusb + " >/dev/full"), 1, "No space left");
}

void options_that_are_wrong()
{
    Shell shell;
    for (const char *wrong : {"640", "640x", "x480", "0x480", "640x5000", "640x480x2", "-1x480", "axb"})
        says(shell.run(std::string("gesture catusb --size ") + wrong + " >$D/x"), 2, "--size needs WIDTHxHEIGHT");
    for (const char *wrong : {"0", "-1", "many", "1.5"})
        says(shell.run(std::string("gesture host --frames ") + wrong), 2, "--frames needs a number");
    says(shell.run("gesture host --module x"), 2, "host has no option --module");
    says(shell.run("gesture watch"), 2, "no command \"watch\"");
    says(shell.run("gesture host now"), 2, "what is \"now\"?");
    says(shell.run("gesture"), 2, "usage: gesture");
    says(shell.run("gesture handcode --module $D/none"), 1, "there is no");
    CHECK(shell.run("gesture --help").out.find("usage: gesture") == 0);
    CHECK(shell.run("gesture xform --help").out.find("usage: gesture") == 0);
}

/* Whoever writes ends without a word, and long before it has written so many frames. */
void readers_that_go()
{
    Shell shell;
    const std::string many = " --frames 100000000 " + size;
    for (const char *way : {"ptask --module $M", "host"}) {
        const Ended ended = shell.run(std::string("gesture ") + way + many + " | head -n 1");
        CHECK_EQ(ended.status, 0);
        CHECK(ended.err.empty());
        CHECK_EQ(ended.out.find('\n') + 1, ended.out.size());
    }
    const Ended pipe = shell.run("gesture catusb" + many + " | gesture xform --module $M | head -c 1 >$D/x");
    CHECK_EQ(pipe.status, 0);
    CHECK(pipe.err.empty());
}

void events_go_to_uinput()
{
    Shell shell;
    const std::string command = "gesture host --frames 1 " + size + " --to uinput";
    if (access("/dev/uinput", W_OK) == 0)
        CHECK_EQ(shell.run(command).status, 0);
    else
        says(shell.run(command), 1, "/dev/uinput");
}

} // namespace

int main()
{
    test::Daemon daemon;
    test::PoclCache cache;
    return tap::run({{"programs joined by pipes and all others find the same hands", pipe_and_graph_agree},
                     {"events go to a file", events_go_to_a_file},
                     {"a trigger takes a frame", a_trigger_takes_a_frame},
                     {"input that is wrong", input_that_is_wrong},
                     {"options that are wrong", options_that_are_wrong},
                     {"readers that go", readers_that_go},
                     {"events go to uinput", events_go_to_uinput}});
}
