// SPDX-License-Identifier: MIT
/*
 * A graph in a pipeline of the shell: text in capital letters. One thread of the library reads blocks from standard
 * input, another one writes the results, and the end of the one becomes the end of the other. Of what is no ASCII, the
 * task makes an error that travels with the stream.
 *
 *	ls / | build/samples/pipe | sort
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>
#include <ptsched/ptask/stream.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unistd.h>

using namespace ptsched::ptask;

namespace {

constexpr std::size_t most = 65536; /* characters in a block */

bool is_ascii(char c)
{
    return !(c & 0x80);
}

void capitalise(Call &call)
{
    std::span<char> text(call.at<char>(0), call.bytes(0));
    if (!std::ranges::all_of(text, is_ascii))
        call.report("the text is not ASCII");
    std::ranges::transform(text, text.begin(), [](char c) { return is_ascii(c) ? std::toupper(c) : c; });
}

void pass_through(char **)
{
    Graph graph;
    Task &task = graph.callback("capitalise", capitalise, {inout("text", Template::variable<char>(most))});
    StreamReader reader(graph.input(task["text"]), STDIN_FILENO);
    StreamWriter writer(graph.output(task["text"]), STDOUT_FILENO);
    graph.run();
    writer.wait();
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 0,
                        "usage: pipe <TEXT\nCopies standard input to standard output in capital letters.\n",
                        pass_through);
}
