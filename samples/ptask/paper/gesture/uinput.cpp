// SPDX-License-Identifier: MIT
/* A hand as a pointer of this machine: it is where the hand is, and its button is down while the hand touches. */
#include "samples/ptask/paper/gesture/events.hpp"
#include <ptsched/base/fd.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/uinput.h>
#include <sys/ioctl.h>

namespace ptsched::paper {

namespace {

constexpr const char *path = "/dev/uinput";
constexpr int most_position = 65535;
constexpr float touching = 0.3f; /* metres from the screen */

UniqueFd open_device()
{
    UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
    if (fd)
        return fd;
    switch (errno) {
    case ENOENT:
    case ENODEV:
        throw Error(std::string("there is no ") + path + ": modprobe uinput provides it");
    case EACCES:
    case EPERM:
        throw Error(std::string("may not write ") + path + ": that takes root, or its group");
    default:
        throw Error(std::string("cannot open ") + path + ": " + std::strerror(errno));
    }
}

class Pointer final : public Events {
public:
    Pointer() : fd_(open_device())
    {
        set(UI_SET_EVBIT, EV_ABS);
        set(UI_SET_EVBIT, EV_KEY);
        set(UI_SET_KEYBIT, BTN_LEFT);
        for (unsigned short axis : {ABS_X, ABS_Y}) {
            uinput_abs_setup setup{};
            setup.code = axis;
            setup.absinfo.maximum = most_position;
            check(ioctl(fd_.get(), UI_ABS_SETUP, &setup), "UI_ABS_SETUP");
        }
        uinput_setup setup{};
        setup.id.bustype = BUS_VIRTUAL;
        std::strcpy(setup.name, "ptsched gesture");
        check(ioctl(fd_.get(), UI_DEV_SETUP, &setup), "UI_DEV_SETUP");
        check(ioctl(fd_.get(), UI_DEV_CREATE), "UI_DEV_CREATE");
    }
    /* The device goes with its file. */

private:
    static void check(int result, const char *doing)
    {
        if (result < 0)
            throw Error(std::string(path) + ", " + doing + ": " + std::strerror(errno));
    }

    void set(unsigned long request, int bit) const { check(ioctl(fd_.get(), request, bit), "UI_SET_*BIT"); }

    void write(const Hand &hand) override
    {
        auto event = [](unsigned short type, unsigned short code, int value) {
            input_event one{};
            one.type = type;
            one.code = code;
            one.value = value;
            return one;
        };
        /* Without a point that is a number, the hand is nowhere. */
        auto position = [](float part) {
            return part > 0 ? static_cast<int>(std::min(part, 1.0f) * most_position) : 0;
        };
        const input_event events[] = {event(EV_ABS, ABS_X, position(hand.x)), event(EV_ABS, ABS_Y, position(hand.y)),
                                      event(EV_KEY, BTN_LEFT, hand.distance < touching), event(EV_SYN, SYN_REPORT, 0)};
        /* The kernel takes all or says why not. */
        check(::write(fd_.get(), events, sizeof(events)) < 0 ? -1 : 0, "an event");
    }

    UniqueFd fd_;
};

} // namespace

std::unique_ptr<Events> open_uinput()
{
    return std::make_unique<Pointer>();
}

} // namespace ptsched::paper
