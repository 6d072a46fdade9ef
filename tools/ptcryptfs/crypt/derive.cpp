// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/crypt/derive.hpp"

#include "tools/ptcryptfs/crypt/openssl.hpp"

#include <limits>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace ptcryptfs {

namespace {

using openssl::need;

constexpr int nonce_bytes = 12, seal_bytes = 16;

unsigned char *to_chars(Bytes bytes)
{
    return reinterpret_cast<unsigned char *>(bytes.data());
}

const unsigned char *chars(ConstBytes bytes)
{
    return reinterpret_cast<const unsigned char *>(bytes.data());
}

int length(ConstBytes bytes)
{
    need(bytes.size() <= std::numeric_limits<int>::max(), "a text of more than 2 GiB");
    return static_cast<int>(bytes.size());
}

OSSL_PARAM octets(const char *name, ConstBytes bytes)
{
    return OSSL_PARAM_construct_octet_string(name, const_cast<std::byte *>(bytes.data()), bytes.size());
}

Secret derive(const char *name, const OSSL_PARAM *parameters, std::size_t bytes)
{
    const openssl::Kdf kdf(EVP_KDF_fetch(nullptr, name, nullptr));
    need(kdf != nullptr, name);
    const openssl::KdfContext context(EVP_KDF_CTX_new(kdf.get()));
    need(context != nullptr, name);
    Secret key(bytes);
    need(EVP_KDF_derive(context.get(), to_chars(key.bytes()), bytes, parameters) > 0, name);
    return key;
}

openssl::CipherContext gcm(ConstBytes key, const unsigned char *nonce, bool encrypts, ConstBytes with)
{
    openssl::CipherContext context(EVP_CIPHER_CTX_new());
    int written = 0;
    need(context && key.size() == 32 &&
             EVP_CipherInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, chars(key), nonce, encrypts) == 1 &&
             EVP_CipherUpdate(context.get(), nullptr, &written, chars(with), length(with)) == 1,
         "AES-256-GCM");
    return context;
}

} // namespace

void fill_randomly(Bytes bytes)
{
    need(RAND_priv_bytes(to_chars(bytes), length(bytes)) == 1, "random bytes");
}

Secret key_of_passphrase(ConstBytes passphrase, ConstBytes salt, const Scrypt &how, std::size_t bytes)
{
    Scrypt with = how;
    /* OpenSSL's limit is 32 MiB else, and it needs some more than what the numbers come to. */
    std::uint64_t most = 128 * how.n * how.r * 2 + (1 << 20);
    const OSSL_PARAM parameters[] = {octets(OSSL_KDF_PARAM_PASSWORD, passphrase),
                                     octets(OSSL_KDF_PARAM_SALT, salt),
                                     OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &with.n),
                                     OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &with.r),
                                     OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &with.p),
                                     OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &most),
                                     OSSL_PARAM_construct_end()};
    return derive("SCRYPT", parameters, bytes);
}

Secret key_of_key(ConstBytes key, ConstBytes salt, std::string_view purpose, std::size_t bytes)
{
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                                     octets(OSSL_KDF_PARAM_KEY, key), octets(OSSL_KDF_PARAM_SALT, salt),
                                     octets(OSSL_KDF_PARAM_INFO, std::as_bytes(std::span(purpose))),
                                     OSSL_PARAM_construct_end()};
    return derive("HKDF", parameters, bytes);
}

Tag tag_of(ConstBytes key, ConstBytes text)
{
    Tag tag;
    unsigned bytes = 0;
    need(HMAC(EVP_sha256(), key.data(), length(key), chars(text), text.size(), to_chars(tag), &bytes) &&
             bytes == tag.size(),
         "HMAC with SHA-256");
    return tag;
}

bool same(ConstBytes one, ConstBytes other)
{
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Tag checksum_of(ConstBytes text)
{
    Tag tag;
    unsigned bytes = 0;
    need(EVP_Digest(text.data(), text.size(), to_chars(tag), &bytes, EVP_sha256(), nullptr) == 1 && bytes == tag.size(),
         "SHA-256");
    return tag;
}

std::vector<std::byte> seal(ConstBytes key, ConstBytes secret, ConstBytes with)
{
    std::vector<std::byte> sealed(nonce_bytes + secret.size() + seal_bytes);
    fill_randomly(Bytes(sealed).first(nonce_bytes));
    const auto context = gcm(key, chars(sealed), true, with);
    unsigned char *const to = to_chars(sealed) + nonce_bytes;
    int written = 0, more = 0;
    need(EVP_CipherUpdate(context.get(), to, &written, chars(secret), length(secret)) == 1 &&
             EVP_CipherFinal_ex(context.get(), to + written, &more) == 1 &&
             EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, seal_bytes, to + written + more) == 1,
         "AES-256-GCM");
    return sealed;
}

std::optional<Secret> unseal(ConstBytes key, ConstBytes sealed, ConstBytes with)
{
    if (sealed.size() < nonce_bytes + seal_bytes)
        return std::nullopt;
    const ConstBytes text = sealed.subspan(nonce_bytes, sealed.size() - nonce_bytes - seal_bytes);
    std::vector<std::byte> tag(sealed.end() - seal_bytes, sealed.end());
    const auto context = gcm(key, chars(sealed), false, with);
    Secret secret(text.size());
    int written = 0, more = 0;
    need(EVP_CipherUpdate(context.get(), to_chars(secret.bytes()), &written, chars(text), length(text)) == 1 &&
             EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, seal_bytes, tag.data()) == 1,
         "AES-256-GCM");
    if (EVP_CipherFinal_ex(context.get(), to_chars(secret.bytes()) + written, &more) != 1) {
        ERR_clear_error();
        return std::nullopt;
    }
    return secret;
}

} // namespace ptcryptfs
