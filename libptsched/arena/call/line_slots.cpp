// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/line_slots.hpp"

#include "libptsched/pool/whole.hpp"

#include <cstring>
#include <vector>

namespace ptsched::arena::detail {

namespace {

/* Of what each slot has before it, lines of its own. */
std::size_t bytes_of_requests(unsigned slots)
{
    return std::size_t{slots} * request_pieces * sizeof(pool::Piece);
}

std::size_t bytes_of_answers(unsigned slots)
{
    return std::size_t{slots} * answer_pieces * sizeof(pool::Piece);
}

/* What the GPU keeps, in its memory. */
constexpr std::size_t ticket_at = 64, turns_at = 128;
static_assert(sizeof(Channel) <= ticket_at);

} // namespace

LineSlots::LineSlots(device::Device &gpu, unsigned slots)
    : slots_(slots), shared_(device::Allocation::pinned(bytes_of_requests(slots) + bytes_of_answers(slots))),
      kept_(device::Allocation::on_device(gpu, turns_at + slots * sizeof(unsigned)))
{
    std::memset(shared_.host_address(), 0, shared_.bytes());
    std::vector<unsigned> image((turns_at + slots * sizeof(unsigned)) / sizeof(unsigned));
    const device::Address answers = shared_.address() + bytes_of_requests(slots), kept = kept_.address();
    const Channel channel{static_cast<pool::Piece *>(device::host_pointer(shared_.address())),
                          static_cast<const pool::Piece *>(device::host_pointer(answers)),
                          static_cast<unsigned *>(device::host_pointer(kept + ticket_at)),
                          static_cast<unsigned *>(device::host_pointer(kept + turns_at)), slots};
    std::memcpy(image.data(), &channel, sizeof(channel));
    for (unsigned slot = 0; slot < slots; slot++)
        image[turns_at / sizeof(unsigned) + slot] = slot;
    const auto queue = gpu.make_queue();
    queue->upload(kept, image.data(), image.size() * sizeof(unsigned));
    queue->finish();
}

const pool::Piece *LineSlots::request(unsigned ticket) const
{
    const auto *all = static_cast<const pool::Piece *>(shared_.host_address());
    return all + std::size_t{ticket % slots_} * request_pieces;
}

/* Sixteen bytes are written to @to. */
bool LineSlots::is_there(const pool::Piece *piece, unsigned ticket, unsigned char *to) const
{
    const __m128i whole = pool::load_whole(piece);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), whole);
    return pool::tag_of(whole) == ticket + 1;
}

bool LineSlots::find(unsigned &ticket, Request &request) const
{
    unsigned char found[2 * sizeof(pool::Piece)];
    const pool::Piece *piece = this->request(next_);
    if (!is_there(piece, next_, found) || !is_there(piece + 1, next_, found + pool::bytes_of_piece))
        return false;
    /* The next one comes to this processor meanwhile. */
    __builtin_prefetch(this->request(next_ + 1));
    ticket = next_;
    std::memcpy(&request, found, sizeof(request));
    return true;
}

bool LineSlots::read(std::byte *to, unsigned bytes) const
{
    unsigned char found[request_pieces * pool::bytes_of_piece + sizeof(pool::Piece)];
    const pool::Piece *piece = request(next_);
    for (unsigned i = 0; i < pool::pieces_of(sizeof(Request) + bytes); i++)
        if (!is_there(piece + i, next_, found + i * pool::bytes_of_piece))
            return false;
    std::memcpy(to, found + sizeof(Request), bytes);
    return true;
}

void LineSlots::answer(unsigned ticket, Status status, const std::byte *result, unsigned bytes)
{
    std::byte words[answer_pieces * pool::bytes_of_piece + sizeof(pool::Piece)] = {};
    std::memcpy(words, &status, sizeof(status));
    const bool has_result = status == Status::done && bytes;
    if (has_result)
        std::memcpy(words + sizeof(status), result, bytes);
    auto *to = static_cast<pool::Piece *>(shared_.host_address()) + bytes_of_requests(slots_) / sizeof(pool::Piece) +
               std::size_t{ticket % slots_} * answer_pieces;
    for (unsigned i = 0; i < pool::pieces_of(sizeof(status) + (has_result ? bytes : 0)); i++)
        pool::store_whole(to + i, pool::tagged(words + i * pool::bytes_of_piece, ticket + 1));
}

} // namespace ptsched::arena::detail
