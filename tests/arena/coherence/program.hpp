/* SPDX-License-Identifier: MIT */
/*
 * Random programs of a host and a GPU on two regions, and what release consistency lets their reads find. A read may
 * find each write, also one that is not ordered before it, unless another write is ordered between the two: what a side
 * does is in order, and what it did before it released comes before what the other does after it acquired.
 */
#ifndef TEST_ARENA_COHERENCE_PROGRAM_HPP
#define TEST_ARENA_COHERENCE_PROGRAM_HPP

#include "tests/arena/coherence/fake.hpp"

#include <map>
#include <random>

namespace test {

using arena::Party;
using Random = std::mt19937_64;

inline Party other_than(Party party)
{
    return party == Party::host ? Party::gpus : Party::host;
}

struct Op {
    enum class Kind : std::uint8_t {
        read,
        write,
        sweep, /* writes one word of each of several pages */
        acquire,
        release,
        release_declared, /* of the GPU: what it has written since it released */
        access,
        take,
        take_declared,
        give_up,
        open /* for reading or writing, by the host */
    } kind;
    Party party;
    unsigned region, word;
};
using Program = std::vector<Op>;

/* Words that programs use: of each page some, the first and the last, and neighbours. */
constexpr unsigned regions = 2;
struct Layout {
    static constexpr std::size_t pages = 36;
    /* Of each region. */
    static std::vector<arena::Stretch> stretches(unsigned region);
    static unsigned words(unsigned region);
    static std::size_t offset(unsigned region, unsigned word);
    static constexpr unsigned words_of_page = 5;
};

Program make_program(Random &random);
std::string describe(const Program &program);
/* All programs that have one step less. */
std::vector<Program> smaller(const Program &program);

/* Of one region. */
class Model {
public:
    std::optional<Party> owner() const { return owner_; }
    void acquire(Party party);
    void release(Party party);
    void access(Party party);
    void take(Party party);
    void give_up();
    /* Before a read or write: that of a side which does not own it makes it shared. */
    void use(Party party) { access_if_owned(party); }

    void write(Party party, unsigned word, std::uint32_t value);
    bool allows(Party party, unsigned word, std::uint32_t value) const;
    /* The other side has written it, and @party has not acquired since that was released. */
    bool would_race(Party party, unsigned word) const;

private:
    struct Write {
        Party by;
        unsigned number; /* from 1 on, of its side */
        unsigned seen;   /* the other side's last one that comes before it */
        std::uint32_t value;
    };
    struct Clock {
        unsigned own = 0, released = 0, seen = 0;
    };

    bool knows(Party party, const Write &write) const;
    static bool is_before(const Write &one, const Write &other);
    void access_if_owned(Party party);
    void publish(Party party) { clock(party).released = clock(party).own; }
    void see(Party party) { clock(party).seen = clock(other_than(party)).released; }
    Clock &clock(Party party) { return clocks_[party == Party::gpus]; }
    const Clock &clock(Party party) const { return clocks_[party == Party::gpus]; }

    std::optional<Party> owner_;
    Clock clocks_[2];
    std::map<unsigned, std::vector<Write>> writes_;
};

} // namespace test

#endif /* TEST_ARENA_COHERENCE_PROGRAM_HPP */
