/* SPDX-License-Identifier: MIT */
/* A signature of which there is no more than its text. */
#ifndef PTSCHED_ARENA_CALL_SIGNATURE_TEXT_HPP
#define PTSCHED_ARENA_CALL_SIGNATURE_TEXT_HPP

#include <ptsched/arena/call.hpp>

namespace ptsched::arena::detail {

class ParsedSignature {
public:
    /* Throws Error if it is none, or has types that have no plain text. */
    explicit ParsedSignature(const std::string &text);

    SignatureOf get() const { return {text_, argument_bytes_, result_bytes_, pointers_, returns_pointer_}; }
    struct Argument {
        unsigned offset, bytes;
    };
    const std::vector<Argument> &arguments() const { return arguments_; }
    unsigned argument_bytes() const { return argument_bytes_; }
    unsigned result_bytes() const { return result_bytes_; }

private:
    const std::string text_;
    std::vector<Argument> arguments_;
    std::vector<PointerAt> pointers_;
    unsigned argument_bytes_ = 0, result_bytes_ = 0;
    bool returns_pointer_ = false;
};

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_SIGNATURE_TEXT_HPP */
