// SPDX-License-Identifier: MIT
/* What a process at the other end of a graph's socket might send. */
#include "tests/ptask/world/world_test.hpp"

#include <sys/mman.h>
#include <sys/socket.h>

namespace test {

namespace {

constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/* Works in the end, whatever came. */
struct Beset : Served {
    ~Beset()
    {
        CHECK(line.x.push(block_of(numbers(8))));
        CHECK(pulled<int>(line.y) == numbers(8, 1));
    }

    UniqueFd welcomed() const { return connected(path(), Packet::hello_input, "x"); }
    /* What is said of a block of @bytes in such memory. */
    bool refuses(UniqueFd memory, const std::string &words, std::size_t bytes = 32) const
    {
        UniqueFd socket = welcomed();
        Packet packet;
        packet.head.kind = Packet::request;
        packet.head.flags = Packet::has_block;
        packet.head.timeout = INT64_MAX;
        packet.head.bytes = bytes;
        packet.memory = std::move(memory);
        return says(answer_to(socket, packet), Packet::refused, words);
    }
};

UniqueFd memory_of(std::size_t bytes, int seals, bool written = true, unsigned flags = 0)
{
    UniqueFd memory(memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
    CHECK(memory);
    CHECK_EQ(ftruncate(memory.get(), static_cast<off_t>(bytes)), 0);
    if (written)
        CHECK_EQ(fallocate(memory.get(), 0, 0, static_cast<off_t>(bytes)), 0);
    CHECK_EQ(fcntl(memory.get(), F_ADD_SEALS, seals), 0);
    return memory;
}

/* As many pages as it needs, but behind its end. */
UniqueFd memory_with_pages_elsewhere(std::size_t bytes)
{
    UniqueFd memory = memory_of(bytes, 0, false);
    CHECK_EQ(fallocate(memory.get(), FALLOC_FL_KEEP_SIZE, 1 << 20, static_cast<off_t>(bytes)), 0);
    CHECK_EQ(fcntl(memory.get(), F_ADD_SEALS, all_seals), 0);
    return memory;
}

UniqueFd for_reading(const UniqueFd &memory)
{
    const std::string path = "/proc/self/fd/" + std::to_string(memory.get());
    return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

void memory_that_is_refused()
{
    Beset served;
    for (int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE})
        CHECK(served.refuses(memory_of(32, all_seals & ~missing), "F_SEAL_SHRINK"));
    CHECK(served.refuses(memory_of(16, all_seals), "memory of 16"));
    CHECK(served.refuses(memory_of(64, all_seals), "memory of 64"));
    CHECK(served.refuses(memory_of(32, all_seals, false), "holes"));
    CHECK(served.refuses(memory_with_pages_elsewhere(32), "holes"));
    CHECK(served.refuses(for_reading(memory_of(32, all_seals)), "a descriptor to write"));
    CHECK(served.refuses(memory_of(0, all_seals, false, MFD_HUGETLB), "ordinary pages"));
    CHECK(served.refuses(memory_of(64, all_seals), "takes 8 x 1 x 1", 64));
    CHECK(served.refuses(UniqueFd(), "without memory"));
    CHECK(served.refuses(UniqueFd(open("/dev/zero", O_RDONLY | O_CLOEXEC)), "not a memfd"));
    Pipe pipe;
    CHECK(served.refuses(std::move(pipe.from), "not a memfd"));
}

/* The connection is closed, and nothing else happens. */
bool closes(const UniqueFd &socket)
{
    return refused([&] { packet_from(socket); }, {"the other process"});
}

void what_is_no_packet()
{
    Beset served;
    UniqueFd socket = served.welcomed();
    CHECK_EQ(send(socket.get(), "x", 1, MSG_NOSIGNAL), ssize_t{1});
    CHECK(closes(socket));
    socket = socket_at(served.path(), false);
    const std::vector<char> large(sizeof(Packet::Head) + 5000);
    CHECK_EQ(send(socket.get(), large.data(), large.size(), MSG_NOSIGNAL), static_cast<ssize_t>(large.size()));
    CHECK(closes(socket));
    socket = served.welcomed();
    Packet empty;
    CHECK(send_packet(socket.get(), empty));
    CHECK(packet_from(socket).head.flags & Packet::refused);
}

/* Requests without end, and nobody reads the answers. */
void who_does_not_listen()
{
    Beset served;
    UniqueFd socket = served.welcomed();
    Packet request;
    request.head.kind = Packet::request;
    bool room = true;
    for (int i = 0; i < 10000 && room; i++)
        room = send_packet(socket.get(), request);
    CHECK(served.refuses(UniqueFd(), "without memory"));
}

/* At once, in great numbers. */
void who_leaves_early()
{
    Beset served;
    for (int i = 0; i < 500; i++) {
        UniqueFd socket = served.welcomed();
        Packet request;
        request.head.kind = Packet::request;
        CHECK(send_packet(socket.get(), request));
    }
}

} // namespace

Cases hostile_cases()
{
    return {{"memory that might go away, change or be missing is refused", memory_that_is_refused},
            {"what is no packet ends its connection", what_is_no_packet},
            {"who does not listen holds nobody up", who_does_not_listen},
            {"who leaves early is forgotten", who_leaves_early}};
}

} // namespace test
