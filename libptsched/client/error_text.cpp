// SPDX-License-Identifier: MIT
#include <ptsched/ptsched.h>

#include <cerrno>
#include <cstring>

const char *ptsched_strerror(int error)
{
    switch (-error) {
    case ENOENT:
        return "there is no scheduler here (neither /dev/ptsched nor a broker)";
    case ENODEV:
        return "the scheduler does not have the device";
    case EACCES:
        return "this user may not open the scheduler, or not the device's node in /dev, which is asked for";
    case EPROTO:
        return "the scheduler speaks another version than this library";
    case EPIPE:
        return "the scheduler is gone";
    case EHOSTDOWN:
        return "the broker does not answer (\"ptsched doctor\" says more)";
    case EXDEV:
        return "the broker is in another pid namespace and cannot see this process";
    case ENFILE:
        return "the broker has no descriptors left";
    case EMFILE:
        return "the program has no descriptors left, or as many clients on the device as it may have";
    case EBADFD:
        return "the program has closed the scheduler's descriptors";
    case ENAMETOOLONG:
        return "the path in PTSCHED_SOCKET is too long for a socket";
    default:
        return std::strerror(-error);
    }
}
