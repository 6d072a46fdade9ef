// SPDX-License-Identifier: MIT
#include "tests/arena/coherence/program.hpp"

#include <algorithm>

namespace test {

std::vector<arena::Stretch> Layout::stretches(unsigned region)
{
    if (region == 0)
        return {{0, 20 * page_bytes}, {24 * page_bytes, 2 * page_bytes}};
    return {{26 * page_bytes, 3 * page_bytes}, {32 * page_bytes, page_bytes}};
}

unsigned Layout::words(unsigned region)
{
    std::size_t bytes = 0;
    for (const arena::Stretch &one : stretches(region))
        bytes += one.bytes;
    return static_cast<unsigned>(bytes / page_bytes * words_of_page);
}

std::size_t Layout::offset(unsigned region, unsigned word)
{
    static constexpr std::size_t in_page[words_of_page] = {0, 4, 64, 4096, page_bytes - 4};
    std::size_t page = word / words_of_page;
    for (const arena::Stretch &one : stretches(region)) {
        if (page < one.bytes / page_bytes)
            return one.offset + page * page_bytes + in_page[word % words_of_page];
        page -= one.bytes / page_bytes;
    }
    throw ptsched::Error("there is no such word");
}

Program make_program(Random &random)
{
    using Kind = Op::Kind;
    /* As often as it stands there. */
    static constexpr Kind kinds[] = {Kind::read,          Kind::read,    Kind::read,
                                     Kind::read,          Kind::write,   Kind::write,
                                     Kind::write,         Kind::write,   Kind::write,
                                     Kind::sweep,         Kind::acquire, Kind::acquire,
                                     Kind::release,       Kind::release, Kind::acquire,
                                     Kind::release,       Kind::access,  Kind::take,
                                     Kind::take_declared, Kind::give_up, Kind::release_declared,
                                     Kind::open};
    const std::size_t length = 5 + random() % 60;
    /* Most programs use few words, so that both sides meet. */
    const unsigned most_words = 1 + static_cast<unsigned>(random() % 12);
    std::vector<unsigned> used[regions];
    for (unsigned region = 0; region < regions; region++)
        for (unsigned i = 0; i < most_words; i++)
            used[region].push_back(static_cast<unsigned>(random() % Layout::words(region)));
    Program program;
    for (std::size_t i = 0; i < length; i++) {
        const Kind kind = kinds[random() % std::size(kinds)];
        const Party party = random() % 2 ? Party::host : Party::gpus;
        const unsigned region = random() % 4 == 0;
        program.push_back({kind, party, region, used[region][random() % most_words]});
    }
    return program;
}

std::string describe(const Program &program)
{
    static constexpr const char *names[] = {"reads",    "writes",   "sweeps from",
                                            "acquires", "releases", "releases what it declares of",
                                            "uses",     "takes",    "takes what is declared of",
                                            "gives up", "opens"};
    std::string text;
    for (const Op &op : program)
        text += std::string("#   ") + (op.party == Party::host ? "host " : "GPU ") +
                names[static_cast<unsigned>(op.kind)] + " region " + std::to_string(op.region) + ", word " +
                std::to_string(op.word) + " at " + std::to_string(Layout::offset(op.region, op.word)) + "\n";
    return text;
}

std::vector<Program> smaller(const Program &program)
{
    std::vector<Program> all;
    for (std::size_t i = 0; i < program.size(); i++) {
        Program less = program;
        less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
        all.push_back(std::move(less));
    }
    return all;
}

void Model::acquire(Party party)
{
    if (!owner_)
        see(party);
}

void Model::release(Party party)
{
    if (!owner_)
        publish(party);
}

void Model::access_if_owned(Party party)
{
    if (!owner_ || *owner_ == party)
        return;
    publish(*owner_);
    owner_.reset();
    see(party);
}

void Model::access(Party party)
{
    access_if_owned(party);
    acquire(party);
}

void Model::take(Party party)
{
    if (owner_ == party)
        return;
    publish(Party::host);
    publish(Party::gpus);
    see(party);
    owner_ = party;
}

void Model::give_up()
{
    if (owner_)
        publish(*owner_);
    owner_.reset();
}

void Model::write(Party party, unsigned word, std::uint32_t value)
{
    Clock &mine = clock(party);
    writes_[word].push_back({party, ++mine.own, mine.seen, value});
}

bool Model::knows(Party party, const Write &write) const
{
    return write.by == party || write.number <= clock(party).seen;
}

bool Model::is_before(const Write &one, const Write &other)
{
    return one.by == other.by ? one.number < other.number : one.number <= other.seen;
}

bool Model::allows(Party party, unsigned word, std::uint32_t value) const
{
    const auto found = writes_.find(word);
    if (found == writes_.end())
        return value == 0;
    const std::vector<Write> &all = found->second;
    if (value == 0)
        return std::none_of(all.begin(), all.end(), [&](const Write &one) { return knows(party, one); });
    return std::any_of(all.begin(), all.end(), [&](const Write &one) {
        return one.value == value && std::none_of(all.begin(), all.end(), [&](const Write &later) {
                   return knows(party, later) && is_before(one, later);
               });
    });
}

bool Model::would_race(Party party, unsigned word) const
{
    const auto found = writes_.find(word);
    return found != writes_.end() && std::any_of(found->second.begin(), found->second.end(),
                                                 [&](const Write &one) { return !knows(party, one); });
}

} // namespace test
