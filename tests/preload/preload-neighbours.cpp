// SPDX-License-Identifier: MIT
/*
 * Programs in which the interposer is not the only library that has the driver's names, or in which there is no driver.
 * This one is linked with none and has weak references, which whatever is preloaded fills; it runs itself with the
 * libraries that a case wants and looks at what that prints.
 */
#include "tests/preload/routes.h"
#include "tests/preload/scripted_client.h"

#include <cstdlib>
#include <utility>

extern "C" {
#define SUBMIT(name, kind, params, args, stream, key) CUresult name params __attribute__((weak));
#define SETTLE(name, params, args) SUBMIT(name, , params, args, , )
#define WATCH(name, params, args) SUBMIT(name, , params, args, , )
#define CAPTURE(name, params, args) SUBMIT(name, , params, args, , )
#define END_STREAM(name, params, args, stream) SUBMIT(name, , params, args, , )
#define END_CONTEXT(name, params, args, context) SUBMIT(name, , params, args, , )
#define END_DEVICE(name, params, args, device) SUBMIT(name, , params, args, , )
#define BEGIN_CONTEXT(name, params, args) SUBMIT(name, , params, args, , )
#include "libptsched/preload/driver/entry_points.def"
CUresult cuGetProcAddress(const char *, void **, int, std::uint64_t) __attribute__((weak));
CUresult cuGetProcAddress_v2(const char *, void **, int, std::uint64_t, CUdriverProcAddressQueryResult *)
    __attribute__((weak));
CUresult cuInit(unsigned) __attribute__((weak));
}

namespace {

const std::string folder = program_folder() / "preload";
const std::string interposer_file = folder + "/libptsched-preload.so", driver_file = folder + "/libcuda.so.1",
                  neighbour_file = folder + "/neighbour.so", stand_in_file = folder + "/stand-in.so";

/* ---- what the program does in its turn as a child ---- */

template <class Fn> Fn *function_of(void *library, const char *name)
{
    return reinterpret_cast<Fn *>(dlsym(library, name));
}

void launch_once()
{
    std::printf("init=%d\n", cuInit ? int(cuInit(0)) : -1);
    if (auto use = function_of<CUresult(CUdevice)>(RTLD_DEFAULT, "hand_use_device"))
        use(0);
    std::printf("launch=%d\n", int(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)));
    std::printf("driver=%ld\n", hand() ? long(hand()->calls("cuLaunchKernel")) : -1);
    auto watched = function_of<int()>(RTLD_DEFAULT, "neighbour_launches");
    std::printf("neighbour=%d\n", watched ? watched() : -1);
    auto scheduler = static_cast<const struct scripted_scheduler *>(dlsym(RTLD_DEFAULT, "scripted_scheduler"));
    std::printf("clients=%lu\n", scheduler->opens());
    std::printf("found=%s\n", home(dlsym(RTLD_DEFAULT, "cuLaunchKernel")).c_str());
}

void call_all()
{
    const std::pair<const char *, void *> all[] = {
#define EACH(name) {#name, reinterpret_cast<void *>(name)},
#include "libptsched/preload/driver/entry_points.def"
    };
    int answered = 0, found = 0;
    for (auto [name, address] : all) {
        answered += address && with_zeros(name, address) == CUDA_ERROR_NOT_INITIALIZED;
        found += dlsym(RTLD_DEFAULT, name) != nullptr;
    }
    std::printf("answered=%d\nfound=%d\n", answered, found);
}

void call_stand_in()
{
    void *library = dlopen(stand_in_file.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto launches = function_of<int()>(library, "neighbour_launches");
    std::printf("launch=%d\n", int(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)));
    std::printf("stand-in=%d\n", launches());
    std::printf("other=%d\n", int(cuMemcpyHtoD_v2(0, nullptr, 0)));
}

int be_child(const std::string &part)
{
    if (part == "launch")
        launch_once();
    else if (part == "all")
        call_all();
    else
        call_stand_in();
    return 0;
}

/* ---- and the cases ---- */

class Said {
public:
    Said(const std::string &part, const std::string &preload, bool disabled)
    {
        const std::string self = std::filesystem::read_symlink("/proc/self/exe");
        const std::string command =
            "LD_PRELOAD='" + preload + "' PTSCHED_DISABLE=" + (disabled ? "1" : "0") + " '" + self + "' " + part;
        FILE *output = popen(command.c_str(), "r");
        char line[256];
        while (output && std::fgets(line, sizeof(line), output))
            text_ += line;
        ended_well_ = output && pclose(output) == 0;
    }
    /* Otherwise shows what it has said. */
    bool ended_with(const std::vector<std::string> &lines) const
    {
        bool good = ended_well_;
        for (const std::string &line : lines)
            good = good && ("\n" + text_).find("\n" + line + "\n") != std::string::npos;
        if (!good)
            std::printf("# %s\n", text_.c_str());
        return good;
    }

private:
    std::string text_;
    bool ended_well_{false};
};

void scheduled_beside_another()
{
    CHECK(Said("launch", neighbour_file + ":" + interposer_file + ":" + driver_file, false)
              .ended_with({"init=0", "launch=0", "driver=1", "neighbour=1", "clients=1", "found=neighbour.so"}));
    CHECK(Said("launch", interposer_file + ":" + neighbour_file + ":" + driver_file, false)
              .ended_with({"init=0", "launch=0", "driver=1", "clients=1"}));
}

void disabled_beside_another()
{
    for (const std::string &order : {neighbour_file + ":" + interposer_file, interposer_file + ":" + neighbour_file}) {
        CHECK(Said("launch", order + ":" + driver_file, true)
                  .ended_with({"init=0", "launch=0", "driver=1", "neighbour=1", "clients=0", "found=neighbour.so"}));
    }
}

void without_driver()
{
    for (bool disabled : {false, true}) {
        CHECK(
            Said("all", interposer_file, disabled).ended_with({"answered=" + std::to_string(names.size()), "found=0"}));
    }
}

void stand_ins()
{
    for (bool disabled : {false, true}) {
        CHECK(Said("stand-in", interposer_file, disabled)
                  .ended_with({"launch=77", "stand-in=1", "other=" + std::to_string(CUDA_ERROR_NOT_INITIALIZED)}));
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1)
        return be_child(argv[1]);
    setenv("ASAN_OPTIONS", asan_options, 1);
    setenv("TSAN_OPTIONS", tsan_options, 1);
    return tap::run({
        {"another library exports the driver's names: the driver is found all the same", scheduled_beside_another},
        {"disabled, every call goes where it would go without the interposer", disabled_beside_another},
        {"without a driver every entry point answers, and no look-up finds one", without_driver},
        {"what stands in for the driver gets its calls", stand_ins},
    });
}
