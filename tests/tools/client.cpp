// SPDX-License-Identifier: MIT
/*
 * A client of libptsched that does what its standard input says, a line at a time,
 * and answers each line with "ok" or "error NUMBER":
 *   open DEVICE | acquire | release GPU_NS SUBMISSIONS | close
 */
#include <ptsched/ptsched.h>

#include <cerrno>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>

namespace {

class Session {
public:
    ~Session() { ptsched_close(client_); }

    int execute(const std::string &line)
    {
        std::istringstream words(line);
        std::string verb;

        words >> verb;
        if (verb == "open")
            return open(words);
        if (!client_)
            return -ENOTCONN;
        if (verb == "acquire")
            return ptsched_acquire(client_, PTSCHED_NEVER, 0, nullptr);
        if (verb == "release")
            return release(words);
        if (verb == "close") {
            ptsched_close(client_);
            client_ = nullptr;
            return 0;
        }
        return -EINVAL;
    }

private:
    ptsched_client *client_ = nullptr;

    int open(std::istringstream &words)
    {
        std::string device;

        words >> device;
        return client_ ? -EBUSY : ptsched_open(device.c_str(), PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_AUTO, &client_);
    }

    int release(std::istringstream &words)
    {
        ptsched_usage usage{};

        words >> usage.gpu_ns >> usage.submissions;
        return words ? ptsched_release(client_, &usage) : -EINVAL;
    }
};

} // namespace

int main()
{
    Session session;
    std::string line;

    while (std::getline(std::cin, line)) {
        int result = session.execute(line);
        if (result)
            std::cout << "error " << -result << std::endl;
        else
            std::cout << "ok" << std::endl;
    }
    return 0;
}
