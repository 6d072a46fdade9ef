/* SPDX-License-Identifier: MIT */
/* Where the pairs of device functions go: lists, rows of dense keys, and tables. Included by <ptsched/spmd.cuh>. */
#ifndef PTSCHED_SPMD_GPU_OUT_CUH
#define PTSCHED_SPMD_GPU_OUT_CUH

#include <ptsched/spmd/gpu_combine.cuh>
#include <ptsched/spmd/gpu_launch.h>

#include <cstring>

namespace ptsched::spmd {

/* A byte string of the input; with at least one byte, and at most gpu::most_text_bytes. */
struct Text {
    const char *data;
    unsigned long long length;
};

namespace gpu {

template <typename T> constexpr bool is_text = false;
template <> inline constexpr bool is_text<Text> = true;

template <typename F> concept HasRecord = requires { typename F::Record; };
template <typename F> concept HasParameters = requires { typename F::Parameters; };
template <typename F> concept Combines = requires { typename F::Combine; };
template <typename F> concept IsDense = requires { F::keys; };

template <typename F> __host__ __device__ constexpr unsigned int dense_keys()
{
    if constexpr (IsDense<F>)
        return F::keys;
    else
        return 0;
}
template <typename F> __host__ __device__ constexpr unsigned int most_pairs()
{
    if constexpr (requires { F::most_pairs; })
        return F::most_pairs;
    else
        return 1;
}
/* Of a block. */
template <typename F> __host__ __device__ constexpr unsigned int threads_of_block()
{
    if constexpr (requires { F::threads; })
        return F::threads;
    else
        return 256;
}
template <typename F> constexpr Way find_way()
{
    if constexpr (IsDense<F>) {
        static_assert(Combines<F>, "dense keys have one value each: Combine says how it comes about");
        return Way::dense;
    } else if constexpr (Combines<F>) {
        return is_text<typename F::Key> || sizeof(typename F::Key) <= sizeof(unsigned long long) ? Way::table
                                                                                                  : Way::list;
    } else {
        return Way::list;
    }
}
template <typename F> constexpr Way way_of = find_way<F>();

template <typename T> struct TypeIs {
    using Type = T;
};
template <typename F> constexpr auto record_type()
{
    if constexpr (HasRecord<F>)
        return TypeIs<typename F::Record>();
    else
        return TypeIs<unsigned char>();
}
template <typename F> constexpr auto parameters_type()
{
    if constexpr (HasParameters<F>)
        return TypeIs<typename F::Parameters>();
    else
        return TypeIs<unsigned char>();
}

/* The records that a launch has. */
template <typename F> struct Input {
    using Record = typename decltype(record_type<F>())::Type;
    using Parameters = typename decltype(parameters_type<F>())::Type;

    __device__ explicit Input(const Launch &launch)
        : data(launch.data), bytes(launch.bytes), first(launch.first), records(launch.records),
          record_bytes(launch.record_bytes), parameters(reinterpret_cast<const Parameters *>(launch.parameters)),
          parameter_bytes(launch.parameter_bytes)
    {
    }
    __device__ const Record &operator[](unsigned long long i) const { return reinterpret_cast<const Record *>(data)[i]; }

    const unsigned char *data;
    unsigned long long bytes;
    unsigned long long first;        /* the number of its first record in the input */
    unsigned long long records;      /* 0 where records have a separator */
    unsigned long long record_bytes; /* likewise */
    const Parameters *parameters;
    unsigned long long parameter_bytes;
};

/* In the place of where pairs go, to see whether there is such a function. */
struct Anywhere {};
template <typename F> concept MapsBlocks = requires(const Input<F> &input, Anywhere &out) { F::map_block(input, out); };

/* A value's elements. */
template <typename F> struct Elements {
    using Combine = typename F::Combine;
    using Element = typename Combine::Element;
    static constexpr unsigned int count = sizeof(typename F::Value) / sizeof(Element);
    static_assert(count * sizeof(Element) == sizeof(typename F::Value), "a value is made of elements of Combine");
    static_assert(alignof(typename F::Value) >= alignof(Element));

    static __device__ void add(Element *to, const typename F::Value &value)
    {
        const Element *const from = reinterpret_cast<const Element *>(&value);
        for (unsigned int i = 0; i < count; i++)
            combine_atomically<Combine>(to + i, from[i]);
    }
};

inline __device__ void say_wrong(const Launch &launch, unsigned long long key)
{
    atomicAdd(&launch.counts->wrong, 1ULL);
    atomicExch(&launch.counts->wrong_key, key);
}

/* Keys and values in places of their own. */
template <typename F> class List {
public:
    using Key = typename F::Key;
    using Value = typename F::Value;

    __device__ explicit List(const Launch &launch) : launch_(launch) {}
    template <typename Item> __device__ void append(const Item &key, const Value &value) const
    {
        const unsigned long long place = atomicAdd(&launch_.counts->pairs, 1ULL);
        if (place >= launch_.capacity)
            return;
        reinterpret_cast<Item *>(launch_.keys)[place] = key;
        reinterpret_cast<Value *>(launch_.values)[place] = value;
    }

private:
    const Launch &launch_;
};

/* What Text is in tables and lists; 0, which no text is, if it is too long. */
inline __device__ unsigned long long word_of(const Launch &launch, const Text &text, unsigned int hash)
{
    if (text.length == 0 || text.length > most_text_bytes) {
        say_wrong(launch, text.length);
        return 0;
    }
    const unsigned long long offset = reinterpret_cast<const unsigned char *>(text.data) - launch.data;
    return offset << (length_bits + tag_bits) | text.length << tag_bits | hash >> (32 - tag_bits);
}

inline __device__ unsigned int hash_of(const Text &text)
{
    unsigned int hash = 2166136261U; /* FNV-1a, of 32 bits */
    for (unsigned long long i = 0; i < text.length; i++)
        hash = (hash ^ static_cast<unsigned char>(text.data[i])) * 16777619U;
    hash ^= hash >> 15;
    return hash * 0x2c1b3c6dU;
}

inline __device__ unsigned int hash_of(unsigned long long word)
{
    word *= 0x9e3779b97f4a7c15ULL;
    return static_cast<unsigned int>(word >> 32);
}

/* Of functions that do not combine, or whose keys are too long for a table. */
template <typename F, Way way = way_of<F>> class Out {
public:
    __device__ explicit Out(const Launch &launch) : launch_(launch), list_(launch) {}
    __device__ void operator()(const typename F::Key &key, const typename F::Value &value)
    {
        if constexpr (is_text<typename F::Key>) {
            if (const unsigned long long word = word_of(launch_, key, 0))
                list_.append(word, value);
        } else {
            list_.append(key, value);
        }
    }
    __device__ void begin() {}
    __device__ void end() {}

private:
    const Launch &launch_;
    const List<F> list_;
};

/* Dense keys. */
template <typename F> class Out<F, Way::dense> {
    using E = Elements<F>;
    using Element = typename E::Element;
    static constexpr unsigned int elements = F::keys * E::count;
    static constexpr unsigned int most_shared_bytes = 16 << 10;
    static constexpr bool is_shared = !MapsBlocks<F> && elements * sizeof(Element) <= most_shared_bytes;

public:
    __device__ explicit Out(const Launch &launch)
        : launch_(launch), row_(reinterpret_cast<Element *>(launch.rows) + static_cast<unsigned long long>(blockIdx.x) * elements),
          flags_(launch.row_flags + static_cast<unsigned long long>(blockIdx.x) * F::keys), near_(shared())
    {
    }
    __device__ void operator()(typename F::Key key, const typename F::Value &value)
    {
        if (static_cast<unsigned long long>(key) >= F::keys) {
            say_wrong(launch_, static_cast<unsigned long long>(key));
            return;
        }
        E::add((is_shared ? near_ : row_) + key * E::count, value);
        flags_[key] = 1;
    }
    /*
     * The block's own value of a key that is below F::keys: its threads combine with it what they have, each elements
     * of its own, or meet in between. What is there from before is to be kept.
     */
    __device__ typename F::Value &own(unsigned int key)
    {
        flags_[key] = 1;
        return reinterpret_cast<typename F::Value *>(row_)[key];
    }

    __device__ void begin()
    {
        if (launch_.is_fresh) {
            for (unsigned int i = threadIdx.x; i < elements; i += blockDim.x)
                row_[i] = E::Combine::identity();
            for (unsigned int i = threadIdx.x; i < F::keys; i += blockDim.x)
                flags_[i] = 0;
        }
        if (is_shared)
            for (unsigned int i = threadIdx.x; i < elements; i += blockDim.x)
                near_[i] = E::Combine::identity();
        __syncthreads();
    }
    __device__ void end()
    {
        if (!is_shared)
            return;
        __syncthreads();
        for (unsigned int i = threadIdx.x; i < elements; i += blockDim.x)
            row_[i] = E::Combine::combine(row_[i], near_[i]);
    }

private:
    static __device__ Element *shared()
    {
        if constexpr (is_shared) {
            __shared__ Element own[elements];
            return own;
        } else {
            return nullptr;
        }
    }

    const Launch &launch_;
    Element *const row_;
    unsigned int *const flags_;
    Element *const near_;
};

/*
 * Of each element of the values, and for each key: some threads go through rows, each of which has every so many of
 * them, in their order; then what they have comes together, in theirs.
 */
template <typename F> __device__ void fold_rows(const Launch &launch)
{
    using E = Elements<F>;
    using Combine = typename E::Combine;
    using Element = typename E::Element;
    constexpr unsigned int elements = F::keys * E::count, threads = threads_of_block<F>();
    constexpr unsigned int of_block = threads < parts_of_fold ? 1 : threads / parts_of_fold;
    constexpr unsigned int at_once = 4; /* loads that wait for no other */
    __shared__ Element values[parts_of_fold * of_block];
    __shared__ unsigned int flags[parts_of_fold * of_block];
    for (unsigned int i = threadIdx.x; i < parts_of_fold * of_block; i += blockDim.x) {
        const unsigned int at = blockIdx.x * of_block + i % of_block, part = i / of_block;
        Element own = Combine::identity();
        unsigned int any = 0;
        for (unsigned int row = part; at < elements && row < launch.row_count; row += at_once * parts_of_fold) {
            Element some[at_once];
            for (unsigned int k = 0; k < at_once; k++) {
                const unsigned int from = row + k * parts_of_fold;
                const bool is_row = from < launch.row_count;
                some[k] = is_row ? reinterpret_cast<const Element *>(
                                       launch.rows)[static_cast<unsigned long long>(from) * elements + at]
                                 : Combine::identity();
                if (is_row && at < F::keys)
                    any |= launch.row_flags[static_cast<unsigned long long>(from) * F::keys + at];
            }
            for (unsigned int k = 0; k < at_once; k++)
                if (row + k * parts_of_fold < launch.row_count)
                    own = Combine::combine(own, some[k]);
        }
        values[i] = own;
        flags[i] = any;
    }
    __syncthreads();
    const unsigned int at = blockIdx.x * of_block + threadIdx.x;
    if (threadIdx.x >= of_block || at >= elements)
        return;
    Element sum = values[threadIdx.x];
    unsigned int any = flags[threadIdx.x];
    for (unsigned int part = 1; part < parts_of_fold; part++) {
        sum = Combine::combine(sum, values[part * of_block + threadIdx.x]);
        any |= flags[part * of_block + threadIdx.x];
    }
    reinterpret_cast<Element *>(launch.values)[at] = sum;
    if (at < F::keys)
        reinterpret_cast<unsigned int *>(launch.keys)[at] = any;
}

/* Entries of keys' words, or of none, and their values' elements. */
template <typename F> class Table {
    using E = Elements<F>;
    using Element = typename E::Element;
    static constexpr bool of_text = is_text<typename F::Key>;

public:
    static constexpr unsigned long long none = of_text ? 0 : ~0ULL;

    __device__ Table(unsigned long long *entries, Element *values, unsigned long long count, const unsigned char *data)
        : entries_(entries), values_(values), mask_(count - 1), data_(data)
    {
    }
    /* By all threads of those that there are @of, of which this one is @number. */
    __device__ void clear(unsigned long long number, unsigned long long of) const
    {
        for (unsigned long long i = number; i <= mask_; i += of)
            entries_[i] = none;
        for (unsigned long long i = number; i < (mask_ + 1) * E::count; i += of)
            values_[i] = E::Combine::identity();
    }
    /* False if there is no place for it within so many entries. */
    __device__ bool add(unsigned long long word, unsigned int hash, const typename F::Value &value,
                        unsigned int most_looks) const
    {
        for (unsigned int i = 0; i < most_looks && i <= mask_; i++) {
            const unsigned long long at = (hash + i) & mask_;
            unsigned long long found = load(entries_ + at);
            if (found == none)
                found = atomicCAS(entries_ + at, none, word);
            if (found == none || is_same(found, word)) {
                E::add(values_ + at * E::count, value);
                return true;
            }
        }
        return false;
    }
    /* Calls @function(word, value) for each, and takes it out; as clear(). */
    template <typename Function>
    __device__ void take(unsigned long long number, unsigned long long of, const Function &function) const
    {
        for (unsigned long long i = number; i <= mask_; i += of) {
            if (entries_[i] == none)
                continue;
            Element *const value = values_ + i * E::count;
            function(entries_[i], *reinterpret_cast<const typename F::Value *>(value));
            entries_[i] = none;
            for (unsigned int k = 0; k < E::count; k++)
                value[k] = E::Combine::identity();
        }
    }
    __device__ unsigned int hash(unsigned long long word) const
    {
        if constexpr (of_text)
            return hash_of(text_of(word));
        else
            return hash_of(word);
    }

private:
    __device__ Text text_of(unsigned long long word) const
    {
        return {reinterpret_cast<const char *>(data_) + (word >> (length_bits + tag_bits)),
                word >> tag_bits & most_text_bytes};
    }
    __device__ bool is_same(unsigned long long a, unsigned long long b) const
    {
        if (a == b)
            return true;
        constexpr unsigned long long length_and_tag = (1ULL << (length_bits + tag_bits)) - 1;
        if (!of_text || (a & length_and_tag) != (b & length_and_tag))
            return false;
        const Text one = text_of(a), other = text_of(b);
        for (unsigned long long i = 0; i < one.length; i++)
            if (one.data[i] != other.data[i])
                return false;
        return true;
    }

    unsigned long long *const entries_;
    Element *const values_;
    const unsigned long long mask_;
    const unsigned char *const data_;
};

template <typename F>
__device__ void append_word(const List<F> &list, unsigned long long word, const typename F::Value &value)
{
    if constexpr (is_text<typename F::Key>) {
        list.append(word, value);
    } else {
        typename F::Key key;
        memcpy(&key, &word, sizeof(key));
        list.append(key, value);
    }
}

/* What does not fit in the table of all blocks goes to the list. */
template <typename F> class Out<F, Way::table> {
    using E = Elements<F>;
    using Element = typename E::Element;
    static constexpr unsigned int near_entries = sizeof(typename F::Value) <= 16 ? 1024 : sizeof(typename F::Value) <= 64 ? 128 : 16;
    static constexpr unsigned int near_looks = 4, far_looks = 64;

public:
    __device__ explicit Out(const Launch &launch)
        : launch_(launch), list_(launch), near_(shared_entries(), shared_values(), near_entries, launch.data),
          far_(launch.entries, reinterpret_cast<Element *>(launch.entry_values), launch.entry_count, launch.data)
    {
    }
    __device__ void operator()(const typename F::Key &key, const typename F::Value &value)
    {
        unsigned long long word = 0;
        unsigned int hash = 0;
        if constexpr (is_text<typename F::Key>) {
            hash = hash_of(key);
            word = word_of(launch_, key, hash);
            if (!word)
                return;
        } else {
            memcpy(&word, &key, sizeof(key));
            hash = hash_of(word);
            if (word == Table<F>::none) { /* which says that there is nothing */
                list_.append(key, value);
                return;
            }
        }
        if (!near_.add(word, hash, value, near_looks))
            add_far(word, hash, value);
    }
    __device__ void begin()
    {
        near_.clear(threadIdx.x, blockDim.x);
        __syncthreads();
    }
    __device__ void end()
    {
        __syncthreads();
        near_.take(threadIdx.x, blockDim.x, [&](unsigned long long word, const typename F::Value &value) {
            add_far(word, near_.hash(word), value);
        });
    }

private:
    __device__ void add_far(unsigned long long word, unsigned int hash, const typename F::Value &value)
    {
        if (!far_.add(word, hash, value, far_looks))
            append_word<F>(list_, word, value);
    }
    static __device__ unsigned long long *shared_entries()
    {
        __shared__ unsigned long long entries[near_entries];
        return entries;
    }
    static __device__ Element *shared_values()
    {
        __shared__ Element values[near_entries * E::count];
        return values;
    }

    const Launch &launch_;
    const List<F> list_;
    const Table<F> near_, far_;
};

template <typename F> __device__ Table<F> far_table(const Launch &launch)
{
    using Element = typename Elements<F>::Element;
    return {launch.entries, reinterpret_cast<Element *>(launch.entry_values), launch.entry_count, launch.data};
}

/* Of all that there are. */
inline __device__ unsigned long long thread_number()
{
    return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
inline __device__ unsigned long long thread_count()
{
    return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

template <typename F> __device__ void clear_table(const Launch &launch)
{
    far_table<F>(launch).clear(thread_number(), thread_count());
}

template <typename F> __device__ void gather_table(const Launch &launch)
{
    const List<F> list(launch);
    far_table<F>(launch).take(thread_number(), thread_count(),
               [&](unsigned long long word, const typename F::Value &value) { append_word<F>(list, word, value); });
}

} // namespace gpu

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_OUT_CUH */
