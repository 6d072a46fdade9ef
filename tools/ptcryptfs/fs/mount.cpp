// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/fs/mount.hpp"

#include "tools/ptcryptfs/fs/filesystem.hpp"
#include "tools/ptcryptfs/volume/folder_lock.hpp"
#include <ptsched/base/error.hpp>

#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syslog.h>

namespace ptcryptfs {

namespace {

using ptsched::Error;

/* As large as the kernel's requests come. */
constexpr unsigned most_bytes = 1 << 20;

void begin(void *, fuse_conn_info *connection)
{
    connection->max_write = most_bytes;
    connection->max_readahead = most_bytes;
    /* It is the kernel that knows when a write, or a file's being opened to be cut, takes its set-user-ID bit away. */
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_ATOMIC_O_TRUNC);
    /* Access control lists count, and those that a folder has for what is new come before a umask. */
    connection->want |= connection->capable & (FUSE_CAP_POSIX_ACL | FUSE_CAP_DONT_MASK);
}

fuse_lowlevel_ops all_operations()
{
    fuse_lowlevel_ops operations{};
    operations.init = begin;
    add_name_operations(operations);
    add_attribute_operations(operations);
    add_file_operations(operations);
    add_folder_operations(operations);
    return operations;
}

/* A file that the kernel knows takes a descriptor. */
void allow_many_files()
{
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

ptsched::UniqueFd open_files(const std::filesystem::path &folder)
{
    const std::filesystem::path files = folder / files_name;
    ptsched::UniqueFd fd(open(files.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd)
        throw Error("cannot open " + files.string() + ": " + std::strerror(errno));
    return fd;
}

/* Two that write would not know of each other. */
ptsched::UniqueFd lock_mount(const MountOptions &options)
{
    return lock_folder(options.folder, options.read_only ? Lock::shared : Lock::alone,
                       options.folder.string() +
                           " is mounted already; only read-only mounts of one folder can be there at the same time");
}

/* The session, with what has to be undone before it ends. */
class Session {
public:
    Session(const MountOptions &options, Filesystem &filesystem)
    {
        fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
        /* The kernel compares rights with those of the file beneath. */
        for (const std::string &argument :
             {std::string("ptcryptfs"), "-odefault_permissions,fsname=" + options.folder.string() +
                                            ",subtype=ptcryptfs" + (options.allow_other ? ",allow_other" : "") +
                                            (options.read_only ? ",ro" : "")})
            if (fuse_opt_add_arg(&arguments, argument.c_str()) < 0)
                throw std::bad_alloc();
        const fuse_lowlevel_ops operations = all_operations();
        session_ = fuse_session_new(&arguments, &operations, sizeof operations, &filesystem);
        fuse_opt_free_args(&arguments);
        if (!session_)
            throw Error("libfuse makes no session: see its message");
        if (fuse_session_mount(session_, options.mountpoint.c_str()) < 0) {
            fuse_session_destroy(session_);
            throw Error("cannot mount on " + options.mountpoint.string() + ": see libfuse's message");
        }
    }
    ~Session()
    {
        fuse_session_unmount(session_);
        fuse_session_destroy(session_);
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    fuse_session *get() const { return session_; }

private:
    fuse_session *session_;
};

class Signals {
public:
    explicit Signals(fuse_session *session) : session_(session)
    {
        if (fuse_set_signal_handlers(session) < 0)
            throw Error("signals cannot be caught");
    }
    ~Signals() { fuse_remove_signal_handlers(session_); }
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;

private:
    fuse_session *const session_;
};

} // namespace

void serve(const MountOptions &options, const Volume &volume, Engine &engine, const std::function<void()> &is_mounted)
{
    /* Also to the standard error, as long as there is one. */
    openlog("ptcryptfs", LOG_PID | LOG_PERROR, LOG_USER);
    allow_many_files();
    /* The kernel has applied that of who asks. */
    umask(0);
    const ptsched::UniqueFd lock = lock_mount(options);
    Filesystem filesystem(volume, engine, open_files(options.folder));
    const Session session(options, filesystem);
    const Signals signals(session.get());
    const std::unique_ptr<fuse_loop_config, void (*)(fuse_loop_config *)> config(fuse_loop_cfg_create(),
                                                                                 fuse_loop_cfg_destroy);
    if (!config)
        throw std::bad_alloc();
    fuse_loop_cfg_set_clone_fd(config.get(), 1);
    if (options.threads)
        fuse_loop_cfg_set_max_threads(config.get(), options.threads);
    is_mounted();
    if (const int result = fuse_session_loop_mt(session.get(), config.get()); result < 0)
        throw Error(std::string("requests cannot be read any more: ") + std::strerror(-result));
}

} // namespace ptcryptfs
