// SPDX-License-Identifier: MIT
#include "child.hpp"

#include "executor.hpp"

#include <cstdio>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

namespace ptsched::paper {

namespace {

std::vector<std::string> environment_with(const std::map<std::string, std::string> &changed)
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

std::vector<double> numbers_of_child(const std::vector<std::string> &arguments,
                                     const std::map<std::string, std::string> &variables)
{
    std::vector<std::string> words{program_folder() / "bench-ptask"}, environment = environment_with(variables);
    int ends[2], status = 0;

    words.insert(words.end(), arguments.begin(), arguments.end());
    auto argv = pointers_to(words), envp = pointers_to(environment);
    if (pipe(ends) < 0)
        throw device::Error("cannot make a pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execve(argv[0], argv.data(), envp.data());
        _exit(127);
    }
    close(ends[1]);
    std::vector<double> numbers;
    if (std::unique_ptr<std::FILE, decltype(&std::fclose)> output(fdopen(ends[0], "r"), std::fclose); output)
        numbers = read_numbers(output.get());
    else
        close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || status || numbers.empty())
        throw device::Error("bench-ptask " + arguments.at(0) + ", started by itself, failed");
    return numbers;
}

} // namespace ptsched::paper
