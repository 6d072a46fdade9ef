// SPDX-License-Identifier: MIT
/* Functions of the host that every kernel may call: log, read_file, allocate, deallocate. */
#include "libptsched/arena/call/host_functions.hpp"
#include "libptsched/arena/call/log_line.hpp"
#include <ptsched/base/fd.hpp>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace ptsched::arena::detail {

namespace {

/* What is there, or a negative errno. */
long read_file(const Path &path, unsigned long offset, void *to, unsigned long bytes)
{
    const UniqueFd fd(open(path.text, O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0)
        return -errno;
    unsigned long done = 0;
    while (done < bytes) {
        const ssize_t now =
            pread(fd.get(), static_cast<std::byte *>(to) + done, bytes - done, static_cast<off_t>(offset + done));
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return -errno;
        if (now == 0)
            break;
        done += static_cast<unsigned long>(now);
    }
    return static_cast<long>(done);
}

template <typename Signature, typename Function>
void add(HostFunctions &functions, const char *name, Function function, Waits waits = Waits::no)
{
    functions.add({std::string(own_prefix) + name, HostSignature<Signature>::make(),
                   make_invoke<Signature>(std::move(function)), waits});
}

} // namespace

void add_ready_made(HostFunctions &functions, const CallOptions &options)
{
    add<void(LogLine)>(functions, "log", [to = options.log](const LogLine &line) {
        const std::string text = format(line);
        if (to)
            to(text);
        else
            std::fwrite(text.data(), 1, text.size(), stdout);
    });
    add<long(Path, unsigned long, void *, unsigned long)>(functions, "read_file", read_file, Waits::may_wait);
    add<void *(unsigned long, unsigned long)>(
        functions, "allocate", [hooks = options.hooks](unsigned long bytes, unsigned long alignment) {
            if (!hooks.allocate)
                throw Error("there is no memory for kernels: CallHooks::allocate gives them some");
            return hooks.allocate(bytes, alignment);
        });
    add<void(void *)>(functions, "deallocate", [hooks = options.hooks](void *memory) {
        if (!hooks.deallocate)
            throw Error("there is no memory for kernels: CallHooks::deallocate takes it back");
        if (memory)
            hooks.deallocate(memory);
    });
}

} // namespace ptsched::arena::detail
