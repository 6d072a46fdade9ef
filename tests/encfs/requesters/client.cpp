// SPDX-License-Identifier: MIT
#include "tests/encfs/requesters/client.hpp"

#include <ptsched/base/fd.hpp>
#include <ptsched/ptsched.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace test {

namespace {

/* Of one request: a sector, where O_DIRECT takes it. */
struct alignas(4096) Content {
    std::array<char, 4096> bytes;
};

Content content_of(int number)
{
    Content content;
    for (std::size_t i = 0; i < content.bytes.size(); i++)
        content.bytes[i] = static_cast<char>(i / 7 + static_cast<std::size_t>(number) + 1);
    return content;
}

off_t place_of(int number)
{
    return static_cast<off_t>(static_cast<std::size_t>(number) * sizeof(Content));
}

void require(bool good, const char *what)
{
    if (!good)
        throw std::runtime_error(what);
}

/* The kernel keeps nothing of what is read: each read is a request. */
class File {
public:
    explicit File(const char *path) : fd_(open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600))
    {
        require(static_cast<bool>(fd_), "its file cannot be opened");
    }
    void write(int count) const
    {
        for (int i = 0; i < count; i++) {
            const Content content = content_of(i);
            require(pwrite(fd_.get(), &content, sizeof(content), place_of(i)) == sizeof(content), "a write has failed");
        }
    }
    void read(int count) const
    {
        for (int i = 0; i < count; i++) {
            const Content wanted = content_of(i);
            Content found;
            require(pread(fd_.get(), &found, sizeof(found), place_of(i)) == sizeof(found), "a read has failed");
            require(found.bytes == wanted.bytes, "what it reads it has not written");
        }
    }

private:
    const ptsched::UniqueFd fd_;
};

void obey(const File &file, const std::string &word, int count)
{
    if (word == "write")
        file.write(count);
    else if (word == "read")
        file.read(count);
    else if (word == "read-by-thread") {
        std::exception_ptr failure;
        std::thread([&] {
            try {
                file.read(count);
            } catch (...) {
                failure = std::current_exception();
            }
        }).join();
        if (failure)
            std::rethrow_exception(failure);
    } else
        throw std::runtime_error("there is no such order");
}

} // namespace

int be_client(const char *path)
{
    try {
        /* What it is charged for is known as long as it lives, whoever works for it. */
        const ptsched::Client attached("ffff:01:00.0");
        const File file(path);
        std::string word;
        for (int count; std::cin >> word >> count;) {
            obey(file, word, count);
            std::cout << word << ' ' << count << std::endl;
        }
        return 0;
    } catch (const std::exception &error) {
        std::cerr << "client: " << error.what() << '\n';
        return 1;
    }
}

} // namespace test
