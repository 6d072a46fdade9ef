// SPDX-License-Identifier: MIT
#include "libptsched/pool/resident.hpp"

#include "libptsched/pool/whole.hpp"
#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cstring>

namespace ptsched::pool {

namespace {

/* So many blocks on, the next result is brought to this processor. */
constexpr unsigned look_ahead = 6;
/* So many blocks in a row without a result, and others are taken first that were found. */
constexpr unsigned most_in_vain = 12;
/* Fewer tasks than one for so many blocks, and only those are looked at that have some. */
constexpr unsigned few_of = 8;
/* It stays, since who begins to copy it goes on before it is copied. */
constexpr Lodge nobody_lodges{};

std::size_t aligned(std::size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

} // namespace

Resident::Layout::Layout(const Shape &shape, unsigned pieces)
    : results(aligned(std::size_t{shape.blocks} * shape.depth * pieces * sizeof(Piece))), notices(2 * results),
      bell(notices + aligned(shape.blocks * sizeof(Notice))), present(bell + aligned(sizeof(Bell))),
      first(present + aligned(shape.blocks * sizeof(unsigned))), end(first + aligned(shape.blocks * sizeof(unsigned)))
{
}

Resident::Resident(device::Device &device, std::unique_ptr<device::Code> code, const Shape &shape)
    : device_(device), code_(std::move(code)), shape_(shape), pieces_(pieces_of(shape.task_bytes)), at_(shape, pieces_),
      shared_(device::Allocation::pinned(at_.end)), lodge_(device::Allocation::on_device(device, sizeof(Lodge))),
      queue_(device.make_queue()), memory_(static_cast<std::byte *>(shared_.host_address())), blocks_(shape.blocks),
      labels_(std::size_t{shape.blocks} * shape.depth), loads_(shape.depth + 1, none)
{
    std::memset(memory_, 0, shared_.bytes());
}

void Resident::start()
{
    auto *first = reinterpret_cast<unsigned *>(memory_ + at_.first);
    for (unsigned block = 0; block < shape_.blocks; block++) {
        /* What the run before has done is not done again, though it may not be collected yet. */
        unsigned done = 0;
        while (done < load_of(block) && has_result(block, blocks_[block].collected + done + 1))
            done++;
        first[block] = blocks_[block].collected + done + 1;
    }
    absent_ = shape_.blocks;
    leaving_ = false;
    run_++;
    const device::Address base = shared_.address();
    Slots slots{};
    slots.tasks = static_cast<const Piece *>(device::host_pointer(base));
    slots.results = static_cast<Piece *>(device::host_pointer(base + at_.results));
    slots.notices = static_cast<const Notice *>(device::host_pointer(base + at_.notices));
    slots.bell = static_cast<const unsigned long long *>(device::host_pointer(base + at_.bell));
    slots.present = static_cast<unsigned *>(device::host_pointer(base + at_.present));
    slots.first = static_cast<const unsigned *>(device::host_pointer(base + at_.first));
    slots.lodge = static_cast<Lodge *>(device::host_pointer(lodge_.address()));
    slots.depth = shape_.depth;
    slots.pieces = pieces_;
    slots.run = run_;
    queue_->upload(lodge_.address(), &nobody_lodges, sizeof(nobody_lodges));
    queue_->run(*code_, {{shape_.blocks, 1, 1}, {shape_.threads, 1, 1}, shape_.shared_bytes}, {&slots});
    try {
        end_ = queue_->mark();
    } catch (...) {
        /* Nobody could wait for its end later. */
        tell_to_leave();
        device::settle(*queue_);
        ended();
        throw;
    }
}

void Resident::leave()
{
    if (end_ && !leaving_)
        tell_to_leave();
}

void Resident::tell_to_leave()
{
    leaving_ = true;
    for (unsigned block = 0; block < shape_.blocks; block++)
        store_whole(memory_ + at_.notices + block * sizeof(Notice), _mm_cvtsi32_si128(static_cast<int>(run_)));
    write_bell({bell_.rings + 1, 0});
}

bool Resident::is_there()
{
    if (!end_)
        return false;
    if (!end_->reached())
        return true;
    ended();
    return false;
}

/* What was given and not done stays in its slots, and what is done is there before the kernel's end is. */
void Resident::ended()
{
    end_.reset();
    std::fill(loads_.begin(), loads_.end(), none);
    for (Block &block : blocks_)
        block.present = false;
    absent_ = 0;
    free_ = 0;
}

std::size_t Resident::room()
{
    if (!end_ || leaving_)
        return 0;
    if (absent_)
        admit();
    return absent_ ? idle() : free_;
}

std::size_t Resident::idle() const
{
    std::size_t count = 0;
    for (unsigned block = loads_[0]; block != none; block = blocks_[block].behind)
        count++;
    return count;
}

void Resident::admit()
{
    auto *present = reinterpret_cast<unsigned *>(memory_ + at_.present);
    for (unsigned block = 0; block < shape_.blocks; block++) {
        if (blocks_[block].present || __atomic_load_n(present + block, __ATOMIC_ACQUIRE) != run_)
            continue;
        blocks_[block].present = true;
        absent_--;
        free_ += shape_.depth - load_of(block);
        link(block);
    }
}

void Resident::give(const std::byte *task, const Label &label)
{
    unsigned load = 0;
    while (loads_[load] == none)
        load++;
    const unsigned block = loads_[load];
    Block &to = blocks_[block];
    unlink(block);
    const unsigned number = ++to.given, tag = make_tag(number, label.kind);
    link(block);
    if (loads_[load] != none)
        __builtin_prefetch(pieces(0, loads_[load], blocks_[loads_[load]].given + 1), 1);
    labels_[block * shape_.depth + number % shape_.depth] = label;
    Piece *piece = pieces(0, block, number);
    for (unsigned i = 0; i < pieces_; i++)
        store_whole(piece + i, tagged(task + i * bytes_of_piece, tag));
    in_flight_++;
    given_++;
    free_--;
    /* It may have ended all that it had, though that was not collected yet. */
    woken_++;
    called_ = block + 1;
}

void Resident::ring()
{
    if (!woken_)
        return;
    write_bell({bell_.rings + woken_, called_});
    woken_ = 0;
}

void Resident::write_bell(const Bell &bell)
{
    bell_ = bell;
    __atomic_store_n(reinterpret_cast<unsigned long long *>(memory_ + at_.bell), make_word(bell), __ATOMIC_RELEASE);
}

Piece *Resident::pieces(std::size_t base, unsigned block, unsigned number) const
{
    const std::size_t slot = std::size_t{block} * shape_.depth + number % shape_.depth;
    return reinterpret_cast<Piece *>(memory_ + base) + slot * pieces_;
}

bool Resident::has_result(unsigned block, unsigned number) const
{
    const Piece *piece = pieces(at_.results, block, number);
    for (unsigned i = 0; i < pieces_; i++)
        if (!is_of(tag_of(load_whole(piece + i)), number))
            return false;
    return true;
}

void Resident::find_results(std::size_t most, std::vector<unsigned> &found)
{
    found.clear();
    if (!in_flight_)
        return;
    if (end_ && !absent_ && in_flight_ * few_of < shape_.blocks)
        find_few(most, found);
    else
        find_many(most, found);
}

/* One task after another: what others do not have need not be looked at. */
void Resident::find_few(std::size_t most, std::vector<unsigned> &found)
{
    for (unsigned load = 1; load <= shape_.depth; load++)
        for (unsigned block = loads_[load]; block != none && found.size() < most; block = blocks_[block].behind)
            find_of(block, most, found);
}

void Resident::find_many(std::size_t most, std::vector<unsigned> &found)
{
    unsigned in_vain = 0;
    for (unsigned looked = 0; looked < shape_.blocks && found.size() < most; looked++) {
        const unsigned block = next_look_, later = (block + look_ahead) % shape_.blocks;
        __builtin_prefetch(pieces(at_.results, later, blocks_[later].collected + 1));
        find_of(block, most, found);
        if (found.size() == most)
            break;
        next_look_ = block + 1 < shape_.blocks ? block + 1 : 0;
        /* Blocks end their tasks in about the order in which they were given them. */
        in_vain = blocks_[block].found || !load_of(block) ? 0 : in_vain + 1;
        if (in_vain > most_in_vain && !found.empty())
            break;
    }
}

void Resident::find_of(unsigned block, std::size_t most, std::vector<unsigned> &found)
{
    Block &one = blocks_[block];
    one.found = 0;
    while (load_of(block) > one.found && found.size() < most && has_result(block, one.collected + one.found + 1) &&
           (found.empty() || label(block, one.collected + one.found + 1).output == label_of_result(found[0]).output)) {
        found.push_back(block);
        one.found++;
    }
}

const Label &Resident::label(unsigned block, unsigned number) const
{
    return labels_[block * shape_.depth + number % shape_.depth];
}

const Label &Resident::label_of_result(unsigned block) const
{
    return label(block, blocks_[block].collected + 1);
}

void Resident::take_result(unsigned block, std::byte *to)
{
    Block &one = blocks_[block];
    const Piece *piece = pieces(at_.results, block, one.collected + 1);
    for (unsigned i = 0; i < pieces_; i++)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i * bytes_of_piece), load_whole(piece + i));
    if (one.present)
        unlink(block);
    one.collected++;
    if (one.present) {
        link(block);
        free_++;
    }
    in_flight_--;
}

/* Those that have just come to a load are the first to get more: they still look at their slots. */
void Resident::link(unsigned block)
{
    unsigned &head = loads_[load_of(block)];
    blocks_[block].before = none;
    blocks_[block].behind = head;
    if (head != none)
        blocks_[head].before = block;
    head = block;
}

void Resident::unlink(unsigned block)
{
    const Block &one = blocks_[block];
    if (one.before == none)
        loads_[load_of(block)] = one.behind;
    else
        blocks_[one.before].behind = one.behind;
    if (one.behind != none)
        blocks_[one.behind].before = one.before;
}

std::string Resident::describe_begun() const
{
    constexpr unsigned most = 4;
    std::string text;
    unsigned found = 0;
    for (unsigned block = 0; block < shape_.blocks; block++) {
        if (!load_of(block) || has_result(block, blocks_[block].collected + 1) || ++found > most)
            continue;
        text += (found > 1 ? "; " : "") + describe(label_of_result(block)) + ", in block " + std::to_string(block);
    }
    if (found > most)
        text += "; and " + std::to_string(found - most) + " more";
    return found ? text : "no task had been given";
}

} // namespace ptsched::pool
