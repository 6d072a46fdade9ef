// SPDX-License-Identifier: MIT
/* Threads count the words of their parts; words go to the ranks by their hashes; the first rank gets all, in order. */
#include "samples/spmd/wordcount/problem.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <omp.h>

namespace ptsched::samples::wordcount {

namespace {

/* Words and their numbers, with open addressing; of words that stay where they are. */
class Table {
public:
    struct Entry {
        const char *word = nullptr;
        std::uint32_t length = 0, hash = 0;
        std::uint64_t count = 0;
        std::string_view view() const { return {word, length}; }
    };

    void add(std::string_view word, std::uint64_t count)
    {
        if (used_ * 2 >= entries_.size())
            grow();
        add({word.data(), static_cast<std::uint32_t>(word.size()), hash_of(word), count});
    }
    const std::vector<Entry> &entries() const { return entries_; }
    static std::uint32_t hash_of(std::string_view word)
    {
        return static_cast<std::uint32_t>(std::hash<std::string_view>()(word));
    }

private:
    void add(const Entry &entry)
    {
        const std::size_t mask = entries_.size() - 1;
        for (std::size_t at = entry.hash & mask;; at = (at + 1) & mask) {
            Entry &here = entries_[at];
            if (!here.word) {
                here = entry;
                used_++;
                return;
            }
            if (here.hash == entry.hash && here.view() == entry.view()) {
                here.count += entry.count;
                return;
            }
        }
    }
    void grow()
    {
        std::vector<Entry> old(std::max<std::size_t>(4096, entries_.size() * 2));
        old.swap(entries_);
        used_ = 0;
        for (const Entry &entry : old)
            if (entry.word)
                add(entry);
    }

    std::vector<Entry> entries_;
    std::size_t used_ = 0;
};

/* Words as they go between ranks: how many, how long, what they are. */
void write_entry(std::vector<char> &to, const Table::Entry &entry)
{
    const auto append = [&](const void *from, std::size_t bytes) {
        const char *const begin = static_cast<const char *>(from);
        to.insert(to.end(), begin, begin + bytes);
    };
    append(&entry.count, sizeof(entry.count));
    append(&entry.length, sizeof(entry.length));
    append(entry.word, entry.length);
}

template <typename Function> void each_entry(const std::vector<char> &from, const Function &function)
{
    for (const char *at = from.data(); at < from.data() + from.size();) {
        std::uint64_t count = 0;
        std::uint32_t length = 0;
        std::memcpy(&count, at, sizeof(count));
        std::memcpy(&length, at + sizeof(count), sizeof(length));
        at += sizeof(count) + sizeof(length);
        function(std::string_view(at, length), count);
        at += length;
    }
}

class ByOpenmp : public RankedWay {
public:
    ByOpenmp(Problem &problem, unsigned threads) : RankedWay(problem.ranks), problem_(problem), threads_(threads) {}
    void check_result() override { problem_.check(counts_, "by MPI and OpenMP"); }

    void compute() override
    {
        const std::vector<char> received = exchange(count_own());
        Table own;
        each_entry(received, [&](std::string_view word, std::uint64_t count) { own.add(word, count); });
        std::vector<char> packed;
        for (const Table::Entry &entry : own.entries())
            if (entry.word)
                write_entry(packed, entry);
        const std::vector<char> all = gather(packed);
        counts_.clear();
        each_entry(all, [&](std::string_view word, std::uint64_t count) { counts_.emplace_back(word, count); });
        std::sort(counts_.begin(), counts_.end());
    }

private:
    /* By ranks to which they go. Threads have parts of all words first, and then parts of all tables. */
    std::vector<std::vector<char>> count_own() const
    {
        const std::string_view text = problem_.text();
        const std::size_t threads = threads_, count = static_cast<std::size_t>(ranks().count());
        std::vector<Table> tables(threads), merged(threads);
        std::vector<std::vector<std::vector<char>>> packed(threads, std::vector<std::vector<char>>(count));
#pragma omp parallel num_threads(threads)
        {
            const auto self = static_cast<std::size_t>(omp_get_thread_num());
            const std::size_t begin = begin_of(text, text.size() / threads * self),
                              end = self + 1 == threads ? text.size()
                                                        : begin_of(text, text.size() / threads * (self + 1));
            each_word(text.substr(begin, end - begin), [&](std::string_view word) { tables[self].add(word, 1); });
#pragma omp barrier
            for (const Table &table : tables)
                for (const Table::Entry &entry : table.entries())
                    if (entry.word && entry.hash / count % threads == self)
                        merged[self].add(entry.view(), entry.count);
            for (const Table::Entry &entry : merged[self].entries())
                if (entry.word)
                    write_entry(packed[self][entry.hash % count], entry);
        }
        std::vector<std::vector<char>> all(count);
        for (std::size_t rank = 0; rank < count; rank++)
            for (const auto &some : packed)
                all[rank].insert(all[rank].end(), some[rank].begin(), some[rank].end());
        return all;
    }

    /* Behind the word that is there. */
    static std::size_t begin_of(std::string_view text, std::size_t at)
    {
        while (at && at < text.size() && !is_space(text[at - 1]))
            at++;
        return at;
    }

    std::vector<char> exchange(const std::vector<std::vector<char>> &to) const
    {
        std::vector<int> sizes, places(to.size()), from(to.size()), from_places(to.size());
        std::vector<char> sent;
        for (const auto &some : to) {
            sizes.push_back(static_cast<int>(some.size()));
            sent.insert(sent.end(), some.begin(), some.end());
        }
        MPI_Alltoall(sizes.data(), 1, MPI_INT, from.data(), 1, MPI_INT, ranks().comm());
        std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
        std::exclusive_scan(from.begin(), from.end(), from_places.begin(), 0);
        std::vector<char> received(static_cast<std::size_t>(from_places.back() + from.back()));
        MPI_Alltoallv(sent.data(), sizes.data(), places.data(), MPI_CHAR, received.data(), from.data(),
                      from_places.data(), MPI_CHAR, ranks().comm());
        return received;
    }

    std::vector<char> gather(const std::vector<char> &own) const
    {
        const auto count = static_cast<std::size_t>(ranks().count());
        const int size = static_cast<int>(own.size());
        std::vector<int> sizes(count), places(count);
        MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, ranks().comm());
        std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
        std::vector<char> all(static_cast<std::size_t>(places.back() + sizes.back()));
        MPI_Gatherv(own.data(), size, MPI_CHAR, all.data(), sizes.data(), places.data(), MPI_CHAR, 0, ranks().comm());
        return all;
    }

    Problem &problem_;
    const std::size_t threads_;
    Counts counts_;
};

} // namespace

std::unique_ptr<Way> by_openmp(Problem &problem, unsigned threads)
{
    return std::make_unique<ByOpenmp>(problem, threads ? threads : problem.ranks.threads());
}

} // namespace ptsched::samples::wordcount
