/* SPDX-License-Identifier: MIT */
/* What is around each example: its arguments, and what becomes of its errors. */
#ifndef PTSCHED_SAMPLES_EXAMPLE_HPP
#define PTSCHED_SAMPLES_EXAMPLE_HPP

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

namespace example {

/* What is wrong with the arguments, of which there must be @count; nothing if they are right. */
inline std::string problem(int argc, char **argv, int count)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-')
            return "unknown option " + std::string(argv[i]);
    if (argc - 1 != count)
        return "the number of arguments is " + std::to_string(argc - 1) + ", not " + std::to_string(count);
    return {};
}

/* The exit status, which would be @status: 1 if what was printed did not get to where it should. */
inline int finish(int status)
{
    if (status || (!std::fflush(stdout) && !std::ferror(stdout)))
        return status;
    std::fprintf(stderr, "%s: cannot write to standard output: %s\n", program_invocation_short_name,
                 std::strerror(errno));
    return 1;
}

/*
 * Calls @body with the program's arguments, of which there must be @count. The exit status: 0; 1 after an exception,
 * which is printed, or if the output is incomplete; 2 for wrong arguments.
 */
inline int run(int argc, char **argv, int count, const char *usage, void (*body)(char **arguments))
{
    if (argc == 2 && !std::strcmp(argv[1], "--help")) {
        std::fputs(usage, stdout);
        return finish(0);
    }
    if (const std::string wrong = problem(argc, argv, count); !wrong.empty()) {
        std::fprintf(stderr, "%s: %s\n%s", program_invocation_short_name, wrong.c_str(), usage);
        return 2;
    }
    try {
        body(argv + 1);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, error.what());
        return 1;
    }
    return finish(0);
}

} // namespace example

#endif /* PTSCHED_SAMPLES_EXAMPLE_HPP */
