/* SPDX-License-Identifier: MIT */
/*
 * A tree whose shape and costs are known only when it has been searched: unbalanced tree search (UTS, S. Olivier et
 * al., LCPC 2006), binomial trees. Each node makes two children or none, with nearly the same chance, so that the tree
 * is deep and narrow, and where it goes on nobody can say. Unlike in UTS, what nodes cost differs as well, as in
 * searches whose nodes solve something. All is integers, of the node's state, so that any search finds the same.
 */
#ifndef SAMPLES_POOL_IRREGULAR_TREE_H
#define SAMPLES_POOL_IRREGULAR_TREE_H

#ifdef __CUDACC__
#define TREE_BOTH __host__ __device__
#else
#define TREE_BOTH
#endif

namespace ptsched::irregular {

constexpr unsigned int lanes = 32;          /* that work at a node */
constexpr unsigned int children = 2;        /* of a node that has some */
constexpr unsigned int chance = 32700;      /* of 65536, that it has */
constexpr unsigned int most_depth = 0xffff; /* nodes there have none */

struct Shape {
    unsigned long long seed;
    unsigned int roots;
    unsigned int grain;    /* rounds of work at the cheapest nodes */
    unsigned int doubling; /* half of the nodes cost twice that or more, a quarter four times ... so often at most */
};

struct Node {
    unsigned long long state;
    unsigned long long value; /* out */
    unsigned int rounds;      /* of work */
    unsigned short depth;
    unsigned short children; /* out */
};

TREE_BOTH inline unsigned long long mix(unsigned long long x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

TREE_BOTH inline Node make_node(unsigned long long state, unsigned int depth, const Shape &shape)
{
    const unsigned long long draw = mix(state ^ 0x9e3779b97f4a7c15ull);
    unsigned int doubled = 0;
    while (doubled < shape.doubling && draw >> doubled & 1)
        doubled++;
    return {state, 0, shape.grain << doubled, static_cast<unsigned short>(depth), 0};
}

TREE_BOTH inline Node make_root(unsigned int i, const Shape &shape)
{
    return make_node(mix(mix(shape.seed) + i), 0, shape);
}

TREE_BOTH inline Node make_child(const Node &parent, unsigned int i, const Shape &shape)
{
    return make_node(mix(parent.state + 1 + i), parent.depth + 1u, shape);
}

TREE_BOTH inline unsigned short count_children(const Node &node)
{
    return mix(node.state ^ 0xd1b54a32d192ed03ull) % 65536 < chance && node.depth < most_depth ? children : 0;
}

/* What one lane contributes to the node's value, which is their sum. */
TREE_BOTH inline unsigned long long work(const Node &node, unsigned int lane)
{
    unsigned long long x = node.state + lane;
    for (unsigned int round = 0; round < node.rounds; round++)
        x = mix(x);
    return x;
}

/* What a search finds. */
struct Found {
    unsigned long long nodes, sum; /* of the nodes' values */
    unsigned int levels;
};

} // namespace ptsched::irregular

#undef TREE_BOTH

#endif /* SAMPLES_POOL_IRREGULAR_TREE_H */
