// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/crypt/engine.hpp"
#include "tools/ptcryptfs/crypt/openssl.hpp"

#include <array>

namespace ptcryptfs {

namespace {

class CpuEngine final : public Engine {
public:
    CpuEngine() : cipher_(EVP_CIPHER_fetch(nullptr, "AES-256-XTS", nullptr))
    {
        openssl::need(cipher_ != nullptr, "AES-256-XTS");
    }
    std::string name() const override { return "cpu"; }
    void encrypt(const Secret &key, std::uint64_t first, ConstBytes from, Bytes to) override
    {
        run(key, first, from, to, true);
    }
    void decrypt(const Secret &key, std::uint64_t first, Bytes sectors) override
    {
        run(key, first, sectors, sectors, false);
    }

private:
    void run(const Secret &key, std::uint64_t number, ConstBytes from, Bytes to, bool encrypts) const
    {
        const openssl::CipherContext context(EVP_CIPHER_CTX_new());
        const auto *const its = reinterpret_cast<const unsigned char *>(key.bytes().data());
        openssl::need(context && key.bytes().size() == key_bytes && from.size() % sector_bytes == 0 &&
                          EVP_CipherInit_ex2(context.get(), cipher_.get(), its, nullptr, encrypts, nullptr) == 1,
                      "AES-256-XTS");
        for (std::size_t at = 0; at < from.size(); at += sector_bytes, number++) {
            std::array<unsigned char, 16> tweak{};
            for (std::size_t i = 0; i < sizeof number; i++)
                tweak[i] = static_cast<unsigned char>(number >> (8 * i));
            const auto *const in = reinterpret_cast<const unsigned char *>(&from[at]);
            auto *const out = reinterpret_cast<unsigned char *>(&to[at]);
            int done = 0;
            openssl::need(EVP_CipherInit_ex2(context.get(), nullptr, nullptr, tweak.data(), -1, nullptr) == 1 &&
                              EVP_CipherUpdate(context.get(), out, &done, in, sector_bytes) == 1,
                          "AES-256-XTS");
        }
    }

    const openssl::Cipher cipher_;
};

} // namespace

std::unique_ptr<Engine> make_cpu_engine()
{
    return std::make_unique<CpuEngine>();
}

} // namespace ptcryptfs
