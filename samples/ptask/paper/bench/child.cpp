// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/bench/child.hpp"

#include "samples/ptask/paper/executor.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>

namespace ptsched::paper {

namespace {

std::vector<std::string> environment_with(const Child::Variables &changed)
{
    std::vector<std::string> variables;
    for (char **variable = environ; *variable; variable++) {
        std::string text = *variable;
        if (!changed.count(text.substr(0, text.find('='))))
            variables.push_back(text);
    }
    for (const auto &[name, value] : changed)
        variables.push_back(name + "=" + value);
    return variables;
}

std::vector<char *> pointers_to(const std::vector<std::string> &words)
{
    std::vector<char *> pointers;
    for (const std::string &word : words)
        pointers.push_back(const_cast<char *>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<double> read_numbers(std::FILE *from)
{
    std::vector<double> numbers;
    double number = 0;
    while (std::fscanf(from, "%lf", &number) == 1)
        numbers.push_back(number);
    return numbers;
}

} // namespace

Child::Child(const std::string &program, const std::vector<std::string> &arguments, int in, int out,
             const Variables &variables)
{
    std::vector<std::string> words{program_folder() / program}, environment = environment_with(variables);
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto argv = pointers_to(words), envp = pointers_to(environment);
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        pid_ = 0;
        throw Error("cannot start " + words[0] + ": " + std::strerror(error));
    }
}

bool Child::wait()
{
    int status = 0;
    pid_t pid = std::exchange(pid_, 0), ended = 0;
    if (!pid)
        return true;
    do
        ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == pid && status == 0;
}

Pipe::Pipe()
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        throw Error(std::string("cannot make a pipe: ") + std::strerror(errno));
    reader.reset(ends[0]);
    writer.reset(ends[1]);
}

std::vector<double> numbers_of_child(const std::vector<std::string> &arguments, const Child::Variables &variables)
{
    Pipe pipe;
    Child child("bench-ptask", arguments, STDIN_FILENO, pipe.writer.get(), variables);
    std::vector<double> numbers;

    pipe.writer.reset();
    std::unique_ptr<std::FILE, decltype(&std::fclose)> output(fdopen(pipe.reader.get(), "r"), std::fclose);
    if (output) {
        pipe.reader.release();
        numbers = read_numbers(output.get());
        output.reset();
    }
    if (!child.wait() || numbers.empty())
        throw Error("bench-ptask " + arguments.at(0) + ", started by itself, failed");
    return numbers;
}

} // namespace ptsched::paper
