// SPDX-License-Identifier: MIT
/*
 * ptcryptfs on the virtual GPU, with the broker for a scheduler; in the test VM, the module. Whose requests it
 * encrypts, the scheduler knows: it is told here what each process has had. No time is looked at.
 */
#include "tests/encfs/requesters/client.hpp"
#include "tests/nice.h"
#include "tests/preload/world.h"
#include <ptsched/base/fd.hpp>

#include <sys/mount.h>

namespace {

using nlohmann::json;

/* kmod/policy/weight.c */
constexpr int weight_at_minus_20 = 88761, weight_at_5 = 335, weight_at_10 = 110, weight_at_19 = 15;

json status()
{
    std::vector<std::string> words{build / "bin/ptsched", "stat", "--json"};
    if (!under_module)
        words.insert(words.end(), {"--broker", world->broker_socket});
    Program stat(words, {}, "stat");
    CHECK_EQ(stat.wait(), 0);
    return json::parse(stat.out(), nullptr, false);
}

/* A process on the first device; null if it is not there. */
json entity(pid_t pid)
{
    const json all = status();
    for (const auto &entity : all["entities"])
        if (entity["pid"] == pid && entity["device_id"] == 0)
            return entity;
    return nullptr;
}

std::uint64_t counter(pid_t pid, const char *name)
{
    const json found = entity(pid);
    return found.is_null() ? 0 : found["counters"][name].get<std::uint64_t>();
}

/* As a program is that attaches itself. */
Environment attached()
{
    Environment environment = world->scheduled();
    environment.erase("LD_PRELOAD");
    return environment;
}

/* The encrypted folder and what shows it, as long as a case lasts. */
class FileSystem {
public:
    FileSystem()
    {
        for (const fs::path &path : {volume_, folder_}) {
            fs::remove_all(path);
            fs::create_directory(path);
        }
        std::ofstream(passphrase_) << "of a test\n";
        run_to_end(words({"init", "--memory", "20", volume_}));
        server_ = std::make_unique<Program>(words({"mount", "--foreground", "--engine", "gpu", volume_, folder_}),
                                            attached(), "ptcryptfs");
        until([&] { return is_mounted() || !server_->running(); });
        if (!CHECK(server_->running()))
            std::printf("# %s", server_->err().c_str());
    }
    ~FileSystem()
    {
        umount(folder_.c_str());
        CHECK_EQ(server_->wait(), 0);
        CHECK(server_->err().empty());
    }
    fs::path file(const std::string &name) const { return folder_ / name; }
    pid_t pid() const { return server_->pid(); }

private:
    std::vector<std::string> words(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), {build / "bin/ptcryptfs", "--passphrase-file", passphrase_});
        return arguments;
    }
    bool is_mounted() const
    {
        std::ifstream mounts("/proc/self/mounts");
        for (std::string line; std::getline(mounts, line);)
            if (line.find(" " + folder_.string() + " ") != std::string::npos)
                return true;
        return false;
    }

    const fs::path volume_ = scratch / "volume", folder_ = scratch / "plain", passphrase_ = scratch / "passphrase";
    std::unique_ptr<Program> server_;
};

/* Who makes requests (client.hpp). */
class Client : public Program {
public:
    Client(const FileSystem &files, const std::string &name, int nice_value)
        : Program({fs::read_symlink("/proc/self/exe"), "client", files.file(name)}, attached(), name, nice_value)
    {
    }
    void begin(const std::string &what) { tell(what + "\n"); }
    void finish(const std::string &what)
    {
        CHECK(await(what + "\n", done_));
        done_ = out().size();
    }
    void do_this(const std::string &what)
    {
        begin(what);
        finish(what);
    }
    void end()
    {
        end_input();
        CHECK_EQ(wait(), 0);
        if (!err().empty())
            std::printf("# %s", err().c_str());
    }

private:
    std::size_t done_ = 0; /* of its output */
};

void one_gpu()
{
    renew_world({"--devices", "1"});
}

/* What is done is reported a little later, of whomever it is then. */
void until_submissions(const FileSystem &files, const std::vector<const Client *> &clients, std::uint64_t all)
{
    until([&] {
        std::uint64_t found = counter(files.pid(), "submissions");
        for (const Client *client : clients)
            found += client->running() ? counter(client->pid(), "submissions") : all;
        return found >= all;
    });
    for (const Client *client : clients)
        CHECK_EQ(counter(client->pid(), "submissions"), all / clients.size());
}

/* However they take turns at asking: none is charged for another's. */
void each_is_charged()
{
    one_gpu();
    const FileSystem files;
    Client a(files, "a", 5), b(files, "b", 10);
    for (Client *client : {&a, &b})
        client->do_this("write 1");
    for (int i = 0; i < 10; i++)
        for (Client *client : {&a, &b})
            client->do_this("read 1");
    for (int i = 0; i < 10; i++) {
        for (Client *client : {&a, &b})
            client->begin("read 1");
        for (Client *client : {&a, &b})
            client->finish("read 1");
    }
    until_submissions(files, {&a, &b}, 42);
    CHECK(entity(a.pid())["weight"] == weight_at_5);
    CHECK(entity(b.pid())["weight"] == weight_at_10);
    CHECK_EQ(counter(files.pid(), "turns"), std::uint64_t{0});
    a.end();
    b.end();
}

/* The kernel names a request by its thread. */
void threads_are_their_process()
{
    one_gpu();
    const FileSystem files;
    Client client(files, "client", 5);
    client.do_this("write 3");
    client.do_this("read-by-thread 3");
    client.do_this("read-by-thread 3");
    until_submissions(files, {&client}, 9);
    CHECK(entity(client.pid())["weight"] == weight_at_5);
    CHECK_EQ(counter(files.pid(), "turns"), std::uint64_t{0});
    client.end();
}

/* Each waits for itself, and neither keeps the other one from it. */
void each_waits_for_its_turn()
{
    one_gpu();
    const FileSystem files;
    Client a(files, "a", 5), b(files, "b", 10);
    for (Client *client : {&a, &b})
        client->do_this("write 1");
    Program holder({build / "tests/ptask-attach-client", "none"}, attached(), "holder");
    holder.tell("take\n");
    CHECK(holder.await("take\n"));
    for (Client *client : {&a, &b})
        client->begin("read 1");
    for (const Client *client : {&a, &b})
        until([&] {
            const json found = entity(client->pid());
            return !client->running() || (!found.is_null() && found["state"] == "waiting");
        });
    CHECK_EQ(counter(files.pid(), "turns"), std::uint64_t{0});
    holder.tell("give\n");
    for (Client *client : {&a, &b})
        client->finish("read 1");
    holder.end_input();
    CHECK_EQ(holder.wait(), 0);
    a.end();
    b.end();
}

/* The experiment of the paper, small: what it reads is right, at its own weight, which is not that of who encrypts. */
void beside_hogs(const std::string &policy, unsigned mib)
{
    one_gpu();
    std::vector<std::string> words{build / "bin/ptsched", "set"};
    if (!under_module)
        words.insert(words.end(), {"--broker", world->broker_socket});
    words.push_back("policy=" + policy);
    run_to_end(words);
    const FileSystem files;
    const std::vector<std::string> hog{
        build / "vgpu/inversion-client", "--kernel-us", "19000", "--depth", "2", "--seconds", "1000"};
    Program one(hog, world->scheduled(), "one", 19), other(hog, world->scheduled(), "other", 19);
    for (const Program *program : {&one, &other})
        until([&] { return !program->running() || counter(program->pid(), "submissions") >= 2; });
    Client client(files, "client", -20);
    client.do_this("write " + std::to_string(mib));
    client.do_this("read " + std::to_string(mib));
    until_submissions(files, {&client}, 2 * mib);
    CHECK(entity(client.pid())["weight"] == weight_at_minus_20);
    for (Program *program : {&one, &other}) {
        CHECK(entity(program->pid())["weight"] == weight_at_19);
        program->signal(SIGTERM);
        CHECK_EQ(program->wait(), 0);
    }
    CHECK_EQ(counter(files.pid(), "turns"), std::uint64_t{0});
    client.end();
}

std::string why_not()
{
    /* It stays, as a module of the system's; the VM's end removes it. */
    if (under_module && fs::exists("/vm/modules/fuse.ko") && !fs::exists("/sys/module/fuse"))
        insert_module("fuse", {});
    if (!ptsched::UniqueFd(open("/dev/fuse", O_RDWR | O_CLOEXEC)))
        return "/dev/fuse cannot be opened here";
    char folder[] = "/tmp/ptcryptfs-test.XXXXXX";
    if (!mkdtemp(folder))
        return "no folder in /tmp";
    const bool may_mount = mount("none", folder, "tmpfs", 0, nullptr) == 0;
    umount(folder);
    fs::remove(folder);
    return may_mount ? "" : "nothing may be mounted here";
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 3 && std::string_view(argv[1]) == "client")
        return test::be_client(argv[2]);
    test::begin_at_nice_0();
    scratch = "/tmp"; /* for what why_not() starts */
    const std::string why = why_not();
    return run_cases({{"each process is charged for its own requests, with its own weight", each_is_charged, why},
                      {"a request of any thread is its process's", threads_are_their_process, why},
                      {"each process waits for its own turn", each_waits_for_its_turn, why},
                      {"beside hogs, policy weighted", [] { beside_hogs("weighted", 4); }, why},
                      /* Where each request waits for many kernels of theirs. */
                      {"beside hogs, policy literal", [] { beside_hogs("literal", 1); }, why}},
                     argc, argv);
}
