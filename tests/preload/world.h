/* SPDX-License-Identifier: MIT */
/*
 * Programs under the interposer, with the virtual GPU for a device and the broker for a scheduler, both started here;
 * or in the test VM, where the test's name ends in -module, with modules for both.
 */
#ifndef PTSCHED_TEST_WORLD_H
#define PTSCHED_TEST_WORLD_H

#include "tests/preload/under_preload.h"
#include "tests/vgpu/tap.h"

#include <fcntl.h>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <vector>

namespace fs = std::filesystem;
using Environment = std::map<std::string, std::string>;

inline const fs::path build = program_folder().parent_path();
inline fs::path scratch;
inline const bool under_module = fs::read_symlink("/proc/self/exe").string().ends_with("-module");

/* A child process with its output in files and its input held open. */
class Program {
public:
    Program(std::vector<std::string> words, const Environment &environment, const std::string &name, int nice_value = 0)
        : out_(scratch / (name + ".out")), err_(scratch / (name + ".err"))
    {
        int input[2] = {-1, -1};
        /* Nobody reads what an earlier one of that name has said. */
        fs::remove(out_);
        fs::remove(err_);
        if (pipe2(input, O_CLOEXEC) < 0)
            std::abort();
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test crash */
            dup2(input[0], STDIN_FILENO);
            close(input[0]);
            close(input[1]);
            if (!std::freopen(out_.c_str(), "w", stdout) || !std::freopen(err_.c_str(), "w", stderr))
                _exit(125);
            for (const auto &[key, value] : environment)
                setenv(key.c_str(), value.c_str(), 1);
            if (nice_value && nice(nice_value) == -1)
                _exit(126);
            std::vector<char *> argv;
            for (std::string &word : words)
                argv.push_back(word.data());
            argv.push_back(nullptr);
            execv(argv[0], argv.data());
            _exit(127);
        }
        close(input[0]);
        input_ = input[1];
    }
    ~Program()
    {
        end_input();
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            wait();
        }
    }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    void end_input()
    {
        if (input_ >= 0)
            close(input_);
        input_ = -1;
    }
    void signal(int number) { kill(pid_, number); }
    int wait()
    {
        int status = -1;
        if (pid_ > 0)
            waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }
    pid_t pid() const { return pid_; }
    std::string out() const { return read(out_); }
    std::string err() const { return read(err_); }
    bool running() const
    {
        siginfo_t info{};
        return pid_ > 0 && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               !info.si_pid;
    }
    void tell(const std::string &text)
    {
        if (write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            std::abort();
    }
    /* Until it has printed @text, not before @from; false if it ended without. */
    bool await(const std::string &text, std::size_t from = 0) const
    {
        while (out().find(text, from) == std::string::npos) {
            if (!running())
                return out().find(text, from) != std::string::npos;
            poll(nullptr, 0, 5);
        }
        return true;
    }

private:
    static std::string read(const fs::path &path)
    {
        std::ifstream file(path);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    fs::path out_, err_;
    int input_{-1};
    pid_t pid_{-1};
};

template <typename Condition> void until(Condition condition)
{
    while (!condition())
        poll(nullptr, 0, 5);
}

inline bool somebody_listens(const fs::path &path, int type)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    const bool connected = connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0;
    close(fd);
    return connected;
}

/* One that ends by itself, and in order. */
inline void run_to_end(const std::vector<std::string> &words)
{
    Program program(words, {}, fs::path(words[0]).filename());
    if (!CHECK(program.wait() == 0))
        std::printf("# %s", program.err().c_str());
}

inline void insert_module(const std::string &name, std::vector<std::string> parameters)
{
    parameters.insert(parameters.begin(), {"/bin/insmod", "/vm/modules/" + name + ".ko"});
    run_to_end(parameters);
}

inline void remove_module(const std::string &name)
{
    if (fs::exists("/sys/module/" + name))
        run_to_end({"/bin/rmmod", name});
}

struct World {
    fs::path gpu_socket = scratch / "gpu", broker_socket = scratch / "broker", stats_file = scratch / "stats";
    std::unique_ptr<Program> gpu, broker;

    explicit World(const std::vector<std::string> &gpu_options = {})
    {
        for (const fs::path &path : {gpu_socket, broker_socket, stats_file})
            fs::remove(path);
        if (under_module)
            insert_gpu(gpu_options);
        else
            start_gpu(gpu_options);
        start_scheduler();
    }
    ~World()
    {
        if (under_module) {
            remove_module("vgpu");
            remove_module("ptsched");
        }
    }
    void start_scheduler()
    {
        if (!under_module)
            return start_broker();
        remove_module("ptsched");
        insert_module("ptsched",
                      {"test_devices=2", "drain_us=10000000", "inflight_us=" + std::to_string(2000 * scale)});
    }
    void stop_scheduler()
    {
        if (under_module)
            return remove_module("ptsched");
        broker->signal(SIGKILL);
        broker->wait();
    }
    Environment bare() const
    {
        Environment environment = {{"PTSCHED_TEST_KERNELS", build / "vgpu/kernels.so"},
                                   {"LD_LIBRARY_PATH", build / "vgpu"},
                                   {"ASAN_OPTIONS", asan_options},
                                   {"TSAN_OPTIONS", std::string(tsan_options) + ":intercept_send=0"}};
        if (!under_module)
            environment["PTSCHED_VGPU_SOCKET"] = gpu_socket;
        return environment;
    }
    Environment scheduled() const
    {
        Environment environment = bare();
        environment["LD_PRELOAD"] = behind_others(build / "lib/libptsched-preload.so");
        if (!under_module) {
            environment["PTSCHED_SOCKET"] = broker_socket;
            environment["PTSCHED_DEVICE_NODE"] = "/nonexistent";
        }
        environment["PTSCHED_STATS"] = stats_file;
        return environment;
    }
    /* With a driver that shows its channels. */
    Environment preemptible(const char *level = "preempt") const
    {
        Environment environment = scheduled();
        environment["LD_PRELOAD"] += ":" + (build / "vgpu/rm-shim.so").string();
        environment["PTSCHED_LEVEL"] = level;
        environment["PTSCHED_LOG"] = "debug";
        return environment;
    }
    Environment unscheduled() const
    {
        Environment environment = scheduled();
        environment["PTSCHED_SOCKET"] = scratch / "nobody";
        return environment;
    }

    /* What the processes wrote to PTSCHED_STATS, by process. */
    std::map<int, nlohmann::json> stats() const
    {
        std::map<int, nlohmann::json> all;
        std::ifstream file(stats_file);
        for (std::string line; std::getline(file, line);) {
            auto json = nlohmann::json::parse(line);
            all[json["pid"].get<int>()] = json;
        }
        return all;
    }
    /* What the virtual GPU saw on device 0. */
    nlohmann::json truth() const
    {
        Program stat({build / "vgpu/vgpu-stat", "--json"}, bare(), "vgpu-stat");
        CHECK_EQ(stat.wait(), 0);
        auto json = nlohmann::json::parse(stat.out(), nullptr, false);
        if (json.is_array())
            return json[0];
        return json.contains("devices") ? json["devices"][0] : json;
    }

private:
    /* The VM's processor is slow: so is its GPU. */
    static constexpr unsigned scale = 10;

    void start_gpu(const std::vector<std::string> &options)
    {
        /* Of an option that is there twice, the last counts. */
        std::vector<std::string> words{build / "vgpu/vgpud", "--socket", gpu_socket, "--devices", "2"};
        words.insert(words.end(), options.begin(), options.end());
        gpu = std::make_unique<Program>(words, Environment{}, "vgpud");
        until([&] { return somebody_listens(gpu_socket, SOCK_STREAM); });
    }
    void start_broker()
    {
        fs::remove(broker_socket);
        /* No turn is shared by force, so that none may be interleaved. */
        broker = std::make_unique<Program>(std::vector<std::string>{build / "bin/ptschedd", "--socket", broker_socket,
                                                                    "--test-devices", "2", "--drain-us", "10000000"},
                                           Environment{}, "ptschedd");
        until([&] { return somebody_listens(broker_socket, SOCK_SEQPACKET); });
    }
    /* The module's parameters have the names of the options. */
    static void insert_gpu(const std::vector<std::string> &options)
    {
        std::vector<std::string> parameters{"devices=2", "scale=" + std::to_string(scale)};
        for (std::size_t i = 0; i + 1 < options.size(); i += 2)
            parameters.push_back(options[i].substr(2) + "=" + options[i + 1]);
        insert_module("vgpu", parameters);
    }
};

inline World *world;

inline std::vector<std::string> client(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), build / "tests/preload-client");
    return arguments;
}

inline void renew_world(const std::vector<std::string> &gpu_options = {})
{
    delete world;
    world = nullptr;
    world = new World(gpu_options);
}

/* What is in @cases, or, with an argument, those of them whose name contains it. */
inline int run_cases(std::vector<tap::Case> cases, int argc, char **argv)
{
    char folder[] = "/tmp/preload-test.XXXXXX";
    if (!mkdtemp(folder))
        return 2;
    scratch = folder;
    world = new World;
    if (argc > 1)
        std::erase_if(cases, [&](const tap::Case &c) { return c.name.find(argv[1]) == std::string::npos; });
    int result = tap::run(cases);
    delete world;
    fs::remove_all(scratch);
    return result;
}

#endif
