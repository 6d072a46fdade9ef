/* SPDX-License-Identifier: MIT */
/* What OpenSSL makes, freed by itself, and its errors as exceptions. */
#ifndef PTCRYPTFS_CRYPT_OPENSSL_HPP
#define PTCRYPTFS_CRYPT_OPENSSL_HPP

#include <ptsched/base/error.hpp>

#include <memory>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <string>

namespace ptcryptfs::openssl {

template <auto free> struct Free {
    template <typename T> void operator()(T *what) const { free(what); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Free<EVP_CIPHER_CTX_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER, Free<EVP_CIPHER_free>>;
using Kdf = std::unique_ptr<EVP_KDF, Free<EVP_KDF_free>>;
using KdfContext = std::unique_ptr<EVP_KDF_CTX, Free<EVP_KDF_CTX_free>>;

[[noreturn]] inline void fail(const std::string &what)
{
    char why[256] = "it does not say why";
    if (const unsigned long code = ERR_get_error())
        ERR_error_string_n(code, why, sizeof why);
    ERR_clear_error();
    throw ptsched::Error(what + " cannot be had of OpenSSL: " + why);
}

/* @result is that of a call that @what depends on. */
inline void need(bool result, const char *what)
{
    if (!result)
        fail(what);
}

} // namespace ptcryptfs::openssl

#endif /* PTCRYPTFS_CRYPT_OPENSSL_HPP */
