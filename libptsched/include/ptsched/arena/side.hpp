/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_SIDE_HPP
#define PTSCHED_ARENA_SIDE_HPP

namespace ptsched::arena {

/* Who uses memory: the host, or a GPU, by its place in Options::devices. */
class Side {
public:
    static constexpr Side host() { return Side(-1); }
    static constexpr Side gpu(unsigned number = 0) { return Side(static_cast<int>(number)); }
    constexpr bool is_host() const { return number_ < 0; }
    /* Of a GPU. */
    constexpr unsigned number() const { return static_cast<unsigned>(number_); }
    bool operator==(const Side &) const = default;

private:
    constexpr explicit Side(int number) : number_(number) {}
    int number_;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_SIDE_HPP */
