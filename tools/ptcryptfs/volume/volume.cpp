// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/volume/volume.hpp"

#include "tools/ptcryptfs/volume/folder_lock.hpp"
#include "tools/ptcryptfs/volume/volume_header.hpp"
#include <ptsched/base/error.hpp>
#include <ptsched/base/fd.hpp>

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace ptcryptfs {

namespace {

using ptsched::Error;
using std::filesystem::path;

constexpr std::size_t master_bytes = 32, salt_bytes = 32;
/* A header has 600 bytes. */
constexpr std::size_t most_header_bytes = 1 << 16;

[[noreturn]] void fail(const std::string &what)
{
    throw Error(what + ": " + std::strerror(errno));
}

ConstBytes text(const std::string &from)
{
    return std::as_bytes(std::span(from));
}

std::string read_header(const path &folder)
{
    const path file = folder / header_name;
    const ptsched::UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd && errno == ENOENT)
        throw Error(folder.string() + " is no encrypted folder: there is no " + header_name +
                    " in it (ptcryptfs init makes one)");
    if (!fd)
        fail("cannot open " + file.string());
    std::string read(most_header_bytes, '\0');
    const ssize_t bytes = pread(fd.get(), read.data(), read.size(), 0);
    if (bytes < 0)
        fail("cannot read " + file.string());
    read.resize(static_cast<std::size_t>(bytes));
    return read;
}

VolumeHeader parsed(const path &folder)
{
    const std::string read = read_header(folder);
    try {
        return VolumeHeader::parse(read);
    } catch (const Error &error) {
        throw Error((folder / header_name).string() + " is damaged: " + error.what() +
                    "; without it nobody can read the files, so take it from a backup");
    }
}

void sync_folder(const path &folder)
{
    const ptsched::UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd || fsync(fd.get()) < 0)
        fail("cannot sync " + folder.string());
}

/* Whoever could open the folder with the old header can with the new one. False, with errno, if that cannot be. */
bool keep_rights(int fd, const path &old_one)
{
    struct stat before;
    if (stat(old_one.c_str(), &before) < 0)
        return errno == ENOENT;
    return fchown(fd, before.st_uid, before.st_gid) == 0 && fchmod(fd, before.st_mode & 07777) == 0;
}

/* Either the whole new one is there after that, or what was there before. */
void write_header(const path &folder, const VolumeHeader &header)
{
    const path file = folder / header_name;
    path unfinished = file;
    unfinished += ".new";
    const std::string written = header.text();
    ptsched::UniqueFd fd(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    errno = fd ? ENOSPC : errno;
    if (!fd || write(fd.get(), written.data(), written.size()) != static_cast<ssize_t>(written.size()) ||
        !keep_rights(fd.get(), file) || fsync(fd.get()) < 0 || rename(unfinished.c_str(), file.c_str()) < 0) {
        const int error = errno;
        unlink(unfinished.c_str());
        errno = error;
        fail("cannot write " + file.string());
    }
    sync_folder(folder);
}

VolumeHeader sealed(ConstBytes key, ConstBytes passphrase, const Scrypt &how)
{
    VolumeHeader header{how, std::vector<std::byte>(salt_bytes), {}};
    fill_randomly(header.salt);
    header.sealed_key = seal(key_of_passphrase(passphrase, header.salt, how, 32).bytes(), key, text(header.covered()));
    return header;
}

Secret opened(const path &folder, const VolumeHeader &header, ConstBytes passphrase)
{
    const Secret opener = key_of_passphrase(passphrase, header.salt, header.scrypt, 32);
    std::optional<Secret> key = unseal(opener.bytes(), header.sealed_key, text(header.covered()));
    if (!key || key->bytes().size() != master_bytes)
        throw Error("the passphrase is not that of " + folder.string());
    return std::move(*key);
}

} // namespace

Volume Volume::create(const path &folder, ConstBytes passphrase, const Scrypt &how)
{
    if (access((folder / header_name).c_str(), F_OK) == 0)
        throw Error(folder.string() + " is an encrypted folder already: to make it anew would lose all that is in it");
    const path files = folder / files_name;
    if (mkdir(files.c_str(), 0755) < 0)
        fail("cannot make the folder " + files.string());
    try {
        Secret key(master_bytes);
        fill_randomly(key.bytes());
        write_header(folder, sealed(key.bytes(), passphrase, how));
        return Volume(std::move(key));
    } catch (...) {
        rmdir(files.c_str());
        throw;
    }
}

Volume Volume::open(const path &folder, ConstBytes passphrase)
{
    return Volume(opened(folder, parsed(folder), passphrase));
}

/* The folder itself is locked by who has mounted it, which is no reason to keep a passphrase. */
void Volume::change_passphrase(const path &folder, ConstBytes old_one, ConstBytes new_one)
{
    /* What is no encrypted folder is said to be none, not to have no files. */
    parsed(folder);
    const ptsched::UniqueFd lock =
        lock_folder(folder / files_name, Lock::alone,
                    "the passphrase of " + folder.string() + " is being changed by another process");
    const VolumeHeader header = parsed(folder);
    const Secret key = opened(folder, header, old_one);
    write_header(folder, sealed(key.bytes(), new_one, header.scrypt));
}

Secret Volume::key_for(std::string_view purpose, ConstBytes salt, std::size_t bytes) const
{
    return key_of_key(key_.bytes(), salt, purpose, bytes);
}

} // namespace ptcryptfs
