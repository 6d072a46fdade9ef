// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/passphrase.hpp"

#include "tools/ptcryptfs/crypt/derive.hpp"
#include <ptsched/base/error.hpp>
#include <ptsched/base/fd.hpp>

#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace ptcryptfs {

namespace {

using ptsched::Error;

constexpr std::size_t most_bytes = 1024;

/* What is typed is not to be seen, as long as it lives, or until a signal ends the process. */
class Unseen {
public:
    explicit Unseen(int fd)
    {
        terminal_ = fd;
        if (tcgetattr(fd, &before_) < 0)
            throw Error(std::string("the terminal cannot be made to hide a passphrase: ") + std::strerror(errno));
        catch_signals();
        termios without = before_;
        without.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        tcsetattr(fd, TCSAFLUSH, &without);
    }
    ~Unseen()
    {
        show();
        for (std::size_t i = 0; i < signals.size(); i++)
            sigaction(signals[i], &actions_before_[i], nullptr);
    }
    Unseen(const Unseen &) = delete;
    Unseen &operator=(const Unseen &) = delete;

private:
    static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    static void show() { tcsetattr(terminal_, TCSAFLUSH, &before_); }
    static void show_and_die(int signal)
    {
        show();
        raise(signal);
    }
    /* The default comes back with the first one. SIGTTOU, which stops a process in the background, is blocked then. */
    void catch_signals()
    {
        struct sigaction ends {};
        ends.sa_handler = show_and_die;
        ends.sa_flags = static_cast<int>(SA_RESETHAND);
        sigfillset(&ends.sa_mask);
        for (std::size_t i = 0; i < signals.size(); i++)
            if (sigaction(signals[i], nullptr, &actions_before_[i]) == 0 && actions_before_[i].sa_handler == SIG_DFL)
                sigaction(signals[i], &ends, nullptr);
    }

    /* For handlers. */
    static inline int terminal_;
    static inline termios before_;
    std::array<struct sigaction, signals.size()> actions_before_;
};

/* A byte at a time: what is behind the line is somebody else's. */
Secret read_line(int fd, const std::string &where)
{
    Secret all(most_bytes);
    std::size_t used = 0;
    for (;; used++) {
        if (used == most_bytes)
            throw Error("the passphrase in " + where + " is longer than " + std::to_string(most_bytes - 1) + " bytes");
        const ssize_t result = read(fd, all.bytes().data() + used, 1);
        if (result < 0)
            throw Error("cannot read a passphrase from " + where + ": " + std::strerror(errno));
        if (!result || all.bytes()[used] == std::byte{'\n'})
            break;
    }
    if (!used)
        throw Error("the passphrase in " + where + " is empty");
    return Secret({reinterpret_cast<const char *>(all.bytes().data()), used});
}

Secret ask(int terminal, const std::string &question)
{
    const Unseen unseen(terminal);
    if (write(terminal, question.data(), question.size()) < 0)
        throw Error(std::string("cannot write to the terminal: ") + std::strerror(errno));
    Secret typed = read_line(terminal, "what was typed");
    static_cast<void>(!write(terminal, "\n", 1));
    return typed;
}

ptsched::UniqueFd terminal()
{
    return ptsched::UniqueFd(isatty(STDIN_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1);
}

} // namespace

Secret read_passphrase(const std::string &file, const std::string &question)
{
    if (!file.empty()) {
        const ptsched::UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
        if (!fd)
            throw Error("cannot open " + file + ": " + std::strerror(errno));
        return read_line(fd.get(), file);
    }
    if (const ptsched::UniqueFd fd = terminal())
        return ask(fd.get(), question);
    return read_line(STDIN_FILENO, "standard input");
}

Secret read_new_passphrase(const std::string &file)
{
    Secret first = read_passphrase(file, "New passphrase: ");
    if (!file.empty())
        return first;
    if (const ptsched::UniqueFd fd = terminal(); fd && !same(first.bytes(), ask(fd.get(), "Once more: ").bytes()))
        throw Error("the two passphrases are not the same");
    return first;
}

} // namespace ptcryptfs
