/* SPDX-License-Identifier: MIT */
/*
 * Map and reduce over CPUs, GPUs and nodes. After PRS (H. Li, G. Fox, G. von Laszewski, A. Chauhan, "Co-processing SPMD
 * computation on CPUs and GPUs cluster", CLUSTER 2013).
 *
 *	spmd::Job<spmd::Bytes, std::uint64_t> job;
 *	job.input = spmd::Input::file("text", spmd::Records::words());
 *	job.cpu.map = [](const spmd::Block &block, auto &out) { for (word of block.text()) out(word, 1); };
 *	job.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
 *	spmd::Cluster cluster;
 *	auto result = cluster.run(job);
 *	for (auto [word, count] : result.pairs()) ...
 *
 * Documentation/spmd.rst is the reference. Types: a key or value is trivially copyable, or spmd::Bytes, of which
 * functions are given a std::string_view. Two keys are equal if their bytes are.
 */
#ifndef PTSCHED_SPMD_HPP
#define PTSCHED_SPMD_HPP

#include <ptsched/spmd/core.hpp>

#include <charconv>
#include <concepts>
#include <iterator>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

/* What a function is given of a key or a value. */
template <typename T> using Given = std::conditional_t<std::is_same_v<T, Bytes>, std::string_view, const T &>;

namespace detail {

template <typename T> std::string_view bytes_of(const T &item)
{
    if constexpr (std::is_same_v<T, Bytes> || std::is_same_v<T, std::string_view>)
        return item;
    else
        return {reinterpret_cast<const char *>(&item), sizeof(T)};
}

/* Of memory that is aligned for it. */
template <typename T> Given<T> given(std::string_view item)
{
    if constexpr (std::is_same_v<T, Bytes>)
        return item;
    else
        return *reinterpret_cast<const T *>(item.data());
}

template <typename T> void print(Given<T> item, std::string &to)
{
    if constexpr (std::is_same_v<T, Bytes>) {
        to += item;
    } else {
        char text[64];
        to.append(text, std::to_chars(text, text + sizeof text, item).ptr);
    }
}

template <typename T>
constexpr bool is_printed = std::is_same_v<T, Bytes> || (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);

} // namespace detail

/* Where a map function's pairs go. */
template <typename Key, typename Value> class Emitter {
public:
    explicit Emitter(Sink &sink) : sink_(sink) {}

    void operator()(Given<Key> key, Given<Value> value) { sink_.emit(detail::bytes_of(key), detail::bytes_of(value)); }

private:
    Sink &sink_;
};

/* Items of a column, in the order that they have there. Valid as long as the column. */
template <typename T> class Values {
public:
    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = std::conditional_t<std::is_same_v<T, Bytes>, std::string_view, T>;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type *;
        using reference = Given<T>;

        Iterator(const Column *column, std::size_t at) : column_(column), at_(at) {}
        reference operator*() const { return column_->get<T>(at_); }
        Iterator &operator++()
        {
            at_++;
            return *this;
        }
        Iterator operator++(int) { return {column_, at_++}; }
        bool operator==(const Iterator &other) const { return at_ == other.at_; }

    private:
        const Column *column_;
        std::size_t at_;
    };

    Values(const Column &column, std::size_t first, std::size_t count) : column_(&column), first_(first), count_(count)
    {
    }

    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    Given<T> operator[](std::size_t i) const { return column_->get<T>(first_ + i); }
    Iterator begin() const { return {column_, first_}; }
    Iterator end() const { return {column_, first_ + count_}; }

private:
    const Column *column_;
    std::size_t first_, count_;
};

/* Results. */
template <typename Key, typename Value> class PairList {
public:
    struct Pair {
        Given<Key> key;
        Given<Value> value;
    };
    class Iterator {
    public:
        Iterator(const Pairs *pairs, std::size_t at) : pairs_(pairs), at_(at) {}
        Pair operator*() const { return {pairs_->keys.get<Key>(at_), pairs_->values.get<Value>(at_)}; }
        Iterator &operator++()
        {
            at_++;
            return *this;
        }
        bool operator==(const Iterator &other) const { return at_ == other.at_; }

    private:
        const Pairs *pairs_;
        std::size_t at_;
    };

    explicit PairList(const Pairs &pairs) : pairs_(&pairs) {}

    std::size_t size() const { return pairs_->size(); }
    bool empty() const { return pairs_->empty(); }
    Pair operator[](std::size_t i) const { return *Iterator(pairs_, i); }
    Iterator begin() const { return {pairs_, 0}; }
    Iterator end() const { return {pairs_, size()}; }

private:
    const Pairs *pairs_;
};

template <typename Key, typename Value> class Result {
public:
    explicit Result(Outcome outcome) : report(std::move(outcome.report)), parts_(std::move(outcome.parts)) {}

    /*
     * By their keys. As Output::where says: all of them, on rank 0 alone, or what @part, a rank of this process, has
     * reduced. None where they went to files or to memory of the program's. Valid as long as the result.
     */
    PairList<Key, Value> pairs(unsigned part = 0) const { return PairList<Key, Value>(parts_.at(part)); }
    /* Ranks of this process: 1, unless Options::ranks says otherwise. */
    std::size_t parts() const { return parts_.size(); }

    Report report;

private:
    std::vector<Pairs> parts_;
};

/* Table 1 of the paper: what runs on cores. All but map may be missing. See Program for who calls it. */
template <typename Key, typename Value> struct CpuFunctions {
    std::function<void(const Block &, Emitter<Key, Value> &)> map = {};
    /* Adds a value to what is there: then not all of them need be kept until they are reduced. */
    std::function<void(Value &into, Given<Value> value)> combine = {};
    /* All values of a key as one. Without it they are combined; without both, the job is one of maps alone. */
    std::function<Value(Given<Key>, Values<Value>)> reduce = {};
    /* Whether one key comes before another: a strict order. Without it they are in the order of their type. */
    std::function<bool(Given<Key>, Given<Key>)> compare = {};
};

template <typename Key, typename Value> struct Job {
    static_assert(width_of<Key>() > 0 && width_of<Value>() > 0);
    static_assert(std::is_same_v<Key, Bytes> || std::has_unique_object_representations_v<Key> ||
                      std::is_floating_point_v<Key>,
                  "a key has padding: the same key would have several representations; pad by members that are set");

    std::string name = "job"; /* for errors, reports and pictures */
    Input input = {};
    CpuFunctions<Key, Value> cpu = {};
    GpuFunctions gpu = {};
    Intensity intensity = Probe{};
    /* Beside it, where a GPU does more for each byte of larger blocks, as of matrices: of a block of so many bytes. */
    model::IntensityOf intensity_of = {};
    Split split = Dynamic{};
    Output output = {};
    /* A pair as a file is to have it, appended to @to; empty: key, tab, value, newline, of numbers and Bytes. */
    std::function<void(Given<Key>, Given<Value>, std::string &to)> format = {};
    /*
     * The values of a key are combined and reduced in the order of the input, in blocks whose borders depend on the
     * input and block_bytes alone: sums of floating-point numbers are the same, bit by bit, on any number of ranks and
     * threads of one kind of device.
     */
    bool ordered = false;
    std::uint64_t block_bytes = 0; /* about so many for a core at a time; 0: as the model or the input's size says */
    std::uint64_t partitions = 0;  /* 0: twice as many as ranks */

    /* It without types; it has copies of all of it. */
    Work work() const;

private:
    Order order() const
    {
        if (cpu.compare)
            return Order::by_function;
        if constexpr (std::is_floating_point_v<Key> && sizeof(Key) <= 8)
            return Order::real_numbers;
        else if constexpr (std::is_integral_v<Key> && sizeof(Key) <= 8)
            return std::is_signed_v<Key> ? Order::signed_numbers : Order::unsigned_numbers;
        else if constexpr (!std::is_same_v<Key, Bytes> && std::totally_ordered<Key>)
            return Order::by_function;
        else
            return Order::bytes;
    }
    void add_reduce(Program &program) const;
    void add_combine(Program &program) const;
    void add_order(Program &program) const;
};

template <typename Key, typename Value> void Job<Key, Value>::add_reduce(Program &program) const
{
    if (cpu.reduce)
        program.reduce = [function = cpu.reduce](std::string_view key, const Column &values, std::size_t first,
                                                 std::size_t count, Column &to) {
            to.append(detail::bytes_of<Value>(function(detail::given<Key>(key), Values<Value>(values, first, count))));
        };
}

template <typename Key, typename Value> void Job<Key, Value>::add_combine(Program &program) const
{
    if (!cpu.combine)
        return;
    if constexpr (std::is_same_v<Value, Bytes>)
        program.combine_strings = cpu.combine;
    else
        program.combine = [function = cpu.combine](std::byte *into, const std::byte *value) {
            function(*reinterpret_cast<Value *>(into), *reinterpret_cast<const Value *>(value));
        };
}

template <typename Key, typename Value> void Job<Key, Value>::add_order(Program &program) const
{
    program.order = order();
    if (cpu.compare)
        program.before = [function = cpu.compare](std::string_view a, std::string_view b) {
            return function(detail::given<Key>(a), detail::given<Key>(b));
        };
    else if constexpr (!std::is_same_v<Key, Bytes> && std::totally_ordered<Key>)
        program.before = [](std::string_view a, std::string_view b) {
            return detail::given<Key>(a) < detail::given<Key>(b);
        };
}

template <typename Key, typename Value> Work Job<Key, Value>::work() const
{
    Work work{.input = input,
              .intensity = intensity,
              .intensity_of = intensity_of,
              .split = split,
              .output = output,
              .ordered = ordered,
              .block_bytes = block_bytes,
              .partitions = partitions};
    Program &program = work.program;
    program.name = name;
    program.key_width = width_of<Key>();
    program.value_width = width_of<Value>();
    program.gpu = gpu;
    if (cpu.map)
        program.map = [function = cpu.map](const Block &block, Sink &sink) {
            Emitter<Key, Value> out(sink);
            function(block, out);
        };
    add_reduce(program);
    add_combine(program);
    add_order(program);
    if (format)
        work.format = [function = format](std::string_view key, std::string_view value, std::string &to) {
            function(detail::given<Key>(key), detail::given<Value>(value), to);
        };
    else if constexpr (detail::is_printed<Key> && detail::is_printed<Value>)
        work.format = [](std::string_view key, std::string_view value, std::string &to) {
            detail::print<Key>(detail::given<Key>(key), to);
            to += '\t';
            detail::print<Value>(detail::given<Value>(value), to);
            to += '\n';
        };
    return work;
}

/* An iterative job. As Cluster: one thread at a time, the same calls on each rank. */
template <typename Key, typename Value> class Loop {
public:
    Loop(std::shared_ptr<Core> core, Work work) : core_(std::move(core)), kept_(core_->keep(std::move(work))) {}

    /* Those of rank 0 count; functions find them in their block. As Cluster::run(). */
    template <typename T> Result<Key, Value> run(std::span<const T> parameters)
    {
        static_assert(std::is_trivially_copyable_v<T>, "parameters are bytes, which are no objects of that type");
        return Result<Key, Value>(core_->run(*kept_, std::as_bytes(parameters)));
    }
    template <typename T> Result<Key, Value> run(const std::vector<T> &parameters)
    {
        return run(std::span<const T>(parameters));
    }
    Result<Key, Value> run() { return run(std::span<const std::byte>{}); }
    /*
     * The input has other bytes than in the last run: the next one brings them to the devices, which keep the memory
     * that they have for them. Does not block.
     */
    void renew() { core_->renew(*kept_); }

private:
    std::shared_ptr<Core> core_;
    std::shared_ptr<Core::Kept> kept_;
};

/* Ranks that run jobs: those of this process; with MPI see <ptsched/spmd/mpi.hpp>. */
class Cluster {
public:
    explicit Cluster(Options options = {}) : core_(std::make_shared<Core>(std::move(options))) {}
    explicit Cluster(std::shared_ptr<Core> core) : core_(std::move(core)) {}

    unsigned rank() const { return core_->rank(); }
    unsigned ranks() const { return core_->ranks(); }
    /* As Core::run(). */
    template <typename Key, typename Value> Result<Key, Value> run(const Job<Key, Value> &job)
    {
        return Result<Key, Value>(core_->run(job.work()));
    }
    /* The same with parameters for a single run; as Loop::run(). */
    template <typename Key, typename Value, typename T>
    Result<Key, Value> run(const Job<Key, Value> &job, std::span<const T> parameters)
    {
        static_assert(std::is_trivially_copyable_v<T>, "parameters are bytes, which are no objects of that type");
        return Result<Key, Value>(core_->run(job.work(), std::as_bytes(parameters)));
    }
    template <typename Key, typename Value, typename T>
    Result<Key, Value> run(const Job<Key, Value> &job, const std::vector<T> &parameters)
    {
        return run(job, std::span<const T>(parameters));
    }
    /* The job is copied. */
    template <typename Key, typename Value> Loop<Key, Value> keep(const Job<Key, Value> &job)
    {
        return Loop<Key, Value>(core_, job.work());
    }

private:
    std::shared_ptr<Core> core_;
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_HPP */
