// SPDX-License-Identifier: MIT
/* A folder whose files are encrypted, and a place where they are to be read and written. */
#include "tools/ptcryptfs/background.hpp"
#include "tools/ptcryptfs/fs/mount.hpp"
#include "tools/ptcryptfs/gpu/gpu_engine.hpp"
#include "tools/ptcryptfs/passphrase.hpp"
#include "tools/standard_streams.hpp"

#include <CLI/CLI.hpp>
#include <csignal>

namespace ptcryptfs {
namespace {

struct Options {
    std::string passphrase_file, new_passphrase_file;
    unsigned memory_log2 = 27; /* bytes of scrypt's memory */
    bool foreground = false;
    std::string engine = "auto";
    MountOptions mount;
};

Scrypt scrypt_of(const Options &options)
{
    Scrypt how;
    how.n = (std::uint64_t{1} << options.memory_log2) / (128 * how.r);
    return how;
}

int init(const Options &options)
{
    prepare_secrets();
    const Secret passphrase = read_new_passphrase(options.passphrase_file);
    Volume::create(options.mount.folder, passphrase.bytes(), scrypt_of(options));
    return 0;
}

int change(const Options &options)
{
    prepare_secrets();
    const Secret old_one = read_passphrase(options.passphrase_file, "Passphrase: ");
    const Secret new_one = read_new_passphrase(options.new_passphrase_file);
    Volume::change_passphrase(options.mount.folder, old_one.bytes(), new_one.bytes());
    return 0;
}

/* Threads of a driver are not in a child of fork(): of the process that serves. */
std::unique_ptr<Engine> make_engine(const std::string &name)
{
    if (name == "cpu")
        return make_cpu_engine();
    if (name == "gpu")
        return make_gpu_engine();
    try {
        return make_choosing_engine(make_cpu_engine(), make_gpu_engine());
    } catch (const ptsched::Error &) {
        return make_cpu_engine();
    }
}

Volume opened(const std::filesystem::path &folder, const std::string &passphrase_file)
{
    const Secret passphrase = read_passphrase(passphrase_file, "Passphrase: ");
    return Volume::open(folder, passphrase.bytes());
}

int mount(const Options &options)
{
    MountOptions where = options.mount;
    where.folder = std::filesystem::absolute(where.folder);
    where.mountpoint = std::filesystem::absolute(where.mountpoint);
    const auto serve_it = [&](const std::function<void()> &is_mounted) {
        prepare_secrets();
        const Volume volume = opened(where.folder, options.passphrase_file);
        const auto engine = make_engine(options.engine);
        serve(where, volume, *engine, is_mounted);
        return 0;
    };
    return options.foreground ? serve_it([] {}) : run_in_background(serve_it);
}

void add_mount(CLI::App &app, Options &options)
{
    CLI::App *const command = app.add_subcommand("mount", "show the files of a folder in plain text");
    command->add_option("FOLDER", options.mount.folder, "that 'init' has made")->required();
    command->add_option("MOUNTPOINT", options.mount.mountpoint, "where they are to be seen, an empty folder")
        ->required()
        ->check(CLI::ExistingDirectory);
    command->add_flag("-f,--foreground", options.foreground, "stay in the foreground");
    command->add_flag("--read-only", options.mount.read_only, "change nothing");
    command->add_flag(
        "--allow-other", options.mount.allow_other,
        "for all users, as far as the files' rights go (needs user_allow_other in /etc/fuse.conf, or root)");
    command
        ->add_option("--engine", options.engine,
                     "what encrypts: cpu, gpu, or auto, for each request what takes less time (auto)")
        ->check(CLI::IsMember({"auto", "cpu", "gpu"}));
    command->add_option("--threads", options.mount.threads, "requests at a time")->check(CLI::Range(1, 1024));
}

int run(int argc, char **argv)
{
    Options options;
    CLI::App app(
        "Encrypts the files of a folder, each sector with AES-256 in XTS mode. Names, sizes, rights, links and "
        "extended attributes are in clear.");
    app.set_version_flag("--version", "ptcryptfs " PTSCHED_VERSION);
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option("--passphrase-file", options.passphrase_file,
                   "whose first line is the passphrase; else it is asked for, or read from standard input");
    CLI::App *const init_command = app.add_subcommand("init", "make an encrypted folder");
    init_command->add_option("FOLDER", options.mount.folder, "an empty one")->required()->check(CLI::ExistingDirectory);
    init_command
        ->add_option("--memory", options.memory_log2, "scrypt's for the passphrase: 2 to the power of N bytes (27)")
        ->check(CLI::Range(20, 33));
    CLI::App *const change_command = app.add_subcommand("passphrase", "change a folder's passphrase");
    change_command->add_option("FOLDER", options.mount.folder, "that 'init' has made")->required();
    change_command->add_option("--new-passphrase-file", options.new_passphrase_file,
                               "whose first line is the new one; else it is asked for");
    add_mount(app, options);
    CLI11_PARSE(app, argc, argv);
    return init_command->parsed() ? init(options) : change_command->parsed() ? change(options) : mount(options);
}

} // namespace
} // namespace ptcryptfs

int main(int argc, char **argv)
{
    ptsched::occupy_standard_streams();
    /* What would be larger than 'ulimit -f' allows is an error of who writes it, and no end for all the others. */
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return ptsched::close_standard_output("ptcryptfs", ptcryptfs::run(argc, argv));
    } catch (const std::exception &error) {
        std::cerr << "ptcryptfs: " << error.what() << "\n";
        return 1;
    }
}
