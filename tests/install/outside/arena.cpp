// SPDX-License-Identifier: MIT
/* A list in an arena, whose pointers would mean the same for GPUs. */
#include <ptsched/arena.hpp>

#include <iostream>

using namespace ptsched::arena;

namespace {

struct Node {
    shared<Node *> next;
    int value;
};

} // namespace

int main()
{
    Options options;
    options.bytes = 64 << 20;
    Window window(options);
    Arena arena = window.owned_arena();
    Node *list = nullptr;
    for (int i = 0; i < 7; i++)
        list = arena.make<Node>(list, i);
    int sum = 0;
    for (const Node *node = list; node; node = node->next)
        sum += 2 * node->value;
    std::cout << sum << "\n";
    return 0;
}
