/* SPDX-License-Identifier: MIT */
/*
 * What both sides of a call know of a function: its signature as text, in which two compilers agree, where each
 * argument lies, and the numbers by which it is found. Compiled by the host's compiler, nvcc and NVRTC.
 */
#ifndef PTSCHED_ARENA_CALL_SIGNATURE_H
#define PTSCHED_ARENA_CALL_SIGNATURE_H

#ifdef __CUDACC__
#define PTSCHED_ARENA_CALL_BOTH __host__ __device__
#else
#define PTSCHED_ARENA_CALL_BOTH
#endif

namespace ptsched::arena {

/* A pointer that is checked where it is set (shared.hpp): as an argument, it is a pointer. */
template <typename Pointer> class shared;

/*
 * A function that is valid on both sides: its number in the jump table. On the side that has the function a call of it
 * is a plain call, on the other a remote one. Made by Calls::pointer(); null without arguments.
 */
template <typename Signature> struct RemotePointer {
    unsigned int number = 0;
    PTSCHED_ARENA_CALL_BOTH explicit constexpr operator bool() const { return number != 0; }
};

/* How errors and signatures name a type of the program's; see PTSCHED_ARENA_TYPE. */
template <typename T> struct NameOfType {
    static constexpr const char *text = nullptr;
};

/* At namespace scope, on both sides: of structs without it, signatures compare the size alone. */
#define PTSCHED_ARENA_TYPE(type)                                                                                       \
    template <> struct ptsched::arena::NameOfType<type> {                                                              \
        static constexpr const char *text = #type;                                                                     \
    }

namespace detail {

constexpr unsigned int most_name_bytes = 64, most_signature_bytes = 192;
/* Of the arguments of a call, or of what it returns. */
constexpr unsigned int most_argument_bytes = 4096, most_alignment = 16;

/* Of RemotePointer: that of the host's functions is set here. Others are the GPU's; 0 is none. */
constexpr unsigned int host_bit = 0x80000000;

struct Text {
    char text[most_signature_bytes] = {};
    unsigned int length = 0;

    PTSCHED_ARENA_CALL_BOTH constexpr void add(const char *more)
    {
        while (*more) {
            if (length + 1 < most_signature_bytes)
                text[length] = *more;
            length++;
            more++;
        }
    }
    PTSCHED_ARENA_CALL_BOTH constexpr void add(unsigned long long number)
    {
        if (number >= 10)
            add(number / 10);
        const char digit[2] = {static_cast<char>('0' + number % 10), 0};
        add(digit);
    }
    PTSCHED_ARENA_CALL_BOTH constexpr bool fits() const { return length < most_signature_bytes; }
};

template <typename T> struct TypeText {
    PTSCHED_ARENA_CALL_BOTH static constexpr void add(Text &to)
    {
        if (NameOfType<T>::text) {
            to.add(NameOfType<T>::text);
            return;
        }
        to.add(__is_enum(T) ? "enum of " : "struct of ");
        to.add(sizeof(T));
        to.add(" bytes");
    }
};
template <typename T> struct TypeText<const T> {
    PTSCHED_ARENA_CALL_BOTH static constexpr void add(Text &to)
    {
        to.add("const ");
        TypeText<T>::add(to);
    }
};
template <typename T> struct TypeText<T *> {
    PTSCHED_ARENA_CALL_BOTH static constexpr void add(Text &to)
    {
        TypeText<T>::add(to);
        to.add(" *");
    }
};
template <typename T> struct TypeText<shared<T *>> : TypeText<T *> {
};
#define PTSCHED_ARENA_PLAIN(type, name)                                                                                \
    template <> struct TypeText<type> {                                                                                \
        PTSCHED_ARENA_CALL_BOTH static constexpr void add(Text &to) { to.add(name); }                                  \
    }
PTSCHED_ARENA_PLAIN(void, "void");
PTSCHED_ARENA_PLAIN(bool, "bool");
PTSCHED_ARENA_PLAIN(char, "char");
PTSCHED_ARENA_PLAIN(signed char, "signed char");
PTSCHED_ARENA_PLAIN(unsigned char, "unsigned char");
PTSCHED_ARENA_PLAIN(short, "short");
PTSCHED_ARENA_PLAIN(unsigned short, "unsigned short");
PTSCHED_ARENA_PLAIN(int, "int");
PTSCHED_ARENA_PLAIN(unsigned int, "unsigned int");
PTSCHED_ARENA_PLAIN(float, "float");
PTSCHED_ARENA_PLAIN(double, "double");
/* The same bytes, and sides may differ in which of them int64_t is. */
PTSCHED_ARENA_PLAIN(long, "long");
PTSCHED_ARENA_PLAIN(long long, "long");
PTSCHED_ARENA_PLAIN(unsigned long, "unsigned long");
PTSCHED_ARENA_PLAIN(unsigned long long, "unsigned long");
#undef PTSCHED_ARENA_PLAIN

/* As "double (const double *, unsigned int)". */
template <typename Signature> struct SignatureText;
template <typename R, typename... Args> struct SignatureText<R(Args...)> {
    PTSCHED_ARENA_CALL_BOTH static constexpr void add(Text &to)
    {
        TypeText<R>::add(to);
        to.add(" (");
        [[maybe_unused]] const char *between = "";
        ((to.add(between), TypeText<Args>::add(to), between = ", "), ...);
        to.add(")");
    }
    PTSCHED_ARENA_CALL_BOTH static constexpr Text make()
    {
        Text text;
        add(text);
        return text;
    }
};
template <typename Signature> struct TypeText<RemotePointer<Signature>> {
    PTSCHED_ARENA_CALL_BOTH static constexpr void add(Text &to)
    {
        to.add("RemotePointer<");
        SignatureText<Signature>::add(to);
        to.add(">");
    }
};

/* FNV-1a. */
PTSCHED_ARENA_CALL_BOTH constexpr unsigned long long hash(const char *text,
                                                          unsigned long long before = 0xcbf29ce484222325)
{
    for (; *text; text++)
        before = (before ^ static_cast<unsigned char>(*text)) * 0x100000001b3;
    return before;
}

/* By which the host finds a function that is called by its name. */
PTSCHED_ARENA_CALL_BOTH constexpr unsigned long long key_of(const char *name, const char *signature)
{
    return hash(signature, hash(" ", hash(name)));
}

PTSCHED_ARENA_CALL_BOTH constexpr unsigned int align_up(unsigned int at, unsigned int alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

template <typename T> constexpr bool is_pointer = false;
template <typename T> constexpr bool is_pointer<T *> = true;
template <typename T> constexpr bool is_pointer<shared<T *>> = true;
/* Copied byte by byte, and valid on the other side. */
template <typename T> constexpr bool can_pass = !__is_class(T) || (__is_trivially_copyable(T) && !__is_empty(T));
template <typename T> constexpr bool can_pass<T &> = false;
template <typename T> constexpr bool can_pass<T &&> = false;

template <typename T> struct SizeOf {
    static constexpr unsigned int value = sizeof(T);
};
template <> struct SizeOf<void> {
    static constexpr unsigned int value = 0;
};

/* Where arguments lie, one behind the other, each aligned to its own type. */
template <typename... Args> struct Layout {
    static_assert((can_pass<Args> && ...), "arguments are passed by value, and are trivially copyable: pass a pointer");
    static_assert(((alignof(Args) <= most_alignment) && ...), "arguments are aligned to at most 16 bytes");

    static constexpr unsigned int count = sizeof...(Args);
    unsigned int offsets[count + 1] = {};
    unsigned int bytes = 0;

    PTSCHED_ARENA_CALL_BOTH static constexpr Layout make()
    {
        Layout layout;
        unsigned int i = 0, at = 0;
        ((at = align_up(at, alignof(Args)), layout.offsets[i++] = at, at += sizeof(Args)), ...);
        layout.bytes = at;
        return layout;
    }
};

template <typename Signature> struct Traits;
template <typename R, typename... Args> struct Traits<R(Args...)> {
    static constexpr Layout<Args...> layout = Layout<Args...>::make();
    static constexpr Text text = SignatureText<R(Args...)>::make();
    static constexpr unsigned int argument_bytes = layout.bytes, result_bytes = SizeOf<R>::value;
    static_assert(can_pass<R>, "results are returned by value, and are trivially copyable: return a pointer");
    static_assert(argument_bytes <= most_argument_bytes && result_bytes <= most_argument_bytes,
                  "arguments, or what is returned, have more than 4096 bytes: pass a pointer");
    static_assert(text.fits(), "a signature has at most 191 characters: name its types with PTSCHED_ARENA_TYPE");
};

/* Numbers from 0 on, as std::index_sequence, which NVRTC need not have. */
template <unsigned int... I> struct Indices {
};
template <unsigned int N, unsigned int... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {
};
template <unsigned int... I> struct MakeIndices<0, I...> {
    using type = Indices<I...>;
};
template <typename... T> using IndicesFor = typename MakeIndices<sizeof...(T)>::type;

} // namespace detail
} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_CALL_SIGNATURE_H */
