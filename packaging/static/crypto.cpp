// The dozen functions of OpenSSL that are called here, over what its libcrypto.a has below them: SHA-256, AES of one
// block, the random numbers of the kernel. Linked into the static file alone, before libcrypto.a.
//
// The invariant: the same results as libcrypto gives, from the same code of its authors. What is left out is its way to
// that code, by providers that name all algorithms and with them link three megabytes of what is never called.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <new>
#include <span>

#include <openssl/aes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/random.h>

struct evp_md_st {};  // one of a kind: SHA-256
struct evp_md_ctx_st {
    SHA256_CTX hash{};
};
struct evp_cipher_st {};  // one of a kind: AES of 128 bits, each block by itself
struct evp_cipher_ctx_st {
    AES_KEY key{};
};

namespace {

constexpr evp_md_st kSha256;
constexpr evp_cipher_st kAes128;
constexpr int kKeyBits = 128;

using Bytes = std::span<const unsigned char>;

// Of one text after the other. Not SHA256(), which takes the long way.
void digest_of(std::initializer_list<Bytes> texts, unsigned char* digest) {
    SHA256_CTX hash{};
    SHA256_Init(&hash);
    for (const Bytes text : texts) SHA256_Update(&hash, text.data(), text.size());
    SHA256_Final(digest, &hash);
}

}  // namespace

extern "C" {

const EVP_MD* EVP_sha256() { return &kSha256; }

int EVP_Digest(const void* data, std::size_t count, unsigned char* digest, unsigned* length, const EVP_MD* kind,
               ENGINE* engine) {
    if (kind != &kSha256 || engine != nullptr) return 0;
    digest_of({Bytes(static_cast<const unsigned char*>(data), count)}, digest);
    if (length != nullptr) *length = SHA256_DIGEST_LENGTH;
    return 1;
}

EVP_MD_CTX* EVP_MD_CTX_new() { return new (std::nothrow) evp_md_ctx_st; }
void EVP_MD_CTX_free(EVP_MD_CTX* context) { delete context; }

int EVP_DigestInit_ex(EVP_MD_CTX* context, const EVP_MD* kind, ENGINE* engine) {
    return kind == &kSha256 && engine == nullptr ? SHA256_Init(&context->hash) : 0;
}
int EVP_DigestUpdate(EVP_MD_CTX* context, const void* data, std::size_t count) {
    return SHA256_Update(&context->hash, data, count);
}
int EVP_DigestFinal_ex(EVP_MD_CTX* context, unsigned char* digest, unsigned* length) {
    if (length != nullptr) *length = SHA256_DIGEST_LENGTH;
    return SHA256_Final(digest, &context->hash);
}

// RFC 2104.
unsigned char* HMAC(const EVP_MD* kind, const void* key, int key_length, const unsigned char* data, std::size_t count,
                    unsigned char* digest, unsigned* length) {
    if (kind != &kSha256 || key_length < 0 || digest == nullptr) return nullptr;
    const Bytes secret(static_cast<const unsigned char*>(key), static_cast<std::size_t>(key_length));
    std::array<unsigned char, SHA256_CBLOCK> block{};
    if (secret.size() > block.size()) digest_of({secret}, block.data());
    else std::ranges::copy(secret, block.begin());
    constexpr unsigned char kInner = 0x36, kOuter = 0x5c;
    for (unsigned char& byte : block) byte ^= kInner;
    std::array<unsigned char, SHA256_DIGEST_LENGTH> inner{};
    digest_of({block, Bytes(data, count)}, inner.data());
    for (unsigned char& byte : block) byte ^= kInner ^ kOuter;
    digest_of({block, inner}, digest);
    OPENSSL_cleanse(block.data(), block.size());
    if (length != nullptr) *length = SHA256_DIGEST_LENGTH;
    return digest;
}

int RAND_bytes(unsigned char* bytes, int count) {
    for (int done = 0; done < count;) {
        const ssize_t got = getrandom(bytes + done, static_cast<std::size_t>(count - done), 0);
        if (got < 0 && errno != EINTR) return 0;
        if (got > 0) done += static_cast<int>(got);
    }
    return 1;
}

const EVP_CIPHER* EVP_aes_128_ecb() { return &kAes128; }
EVP_CIPHER_CTX* EVP_CIPHER_CTX_new() { return new (std::nothrow) evp_cipher_ctx_st; }
void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX* context) {
    if (context != nullptr) OPENSSL_cleanse(&context->key, sizeof context->key);
    delete context;
}
int EVP_CIPHER_CTX_set_padding(EVP_CIPHER_CTX* /*context*/, int padding) { return padding == 0 ? 1 : 0; }

int EVP_EncryptInit_ex(EVP_CIPHER_CTX* context, const EVP_CIPHER* kind, ENGINE* engine, const unsigned char* key,
                       const unsigned char* iv) {
    if (kind != &kAes128 || engine != nullptr || iv != nullptr) return 0;
    return AES_set_encrypt_key(key, kKeyBits, &context->key) == 0 ? 1 : 0;
}

// Whole blocks: nothing is held back where there is no padding.
int EVP_EncryptUpdate(EVP_CIPHER_CTX* context, unsigned char* out, int* length, const unsigned char* in, int count) {
    *length = 0;
    if (count < 0 || count % AES_BLOCK_SIZE != 0) return 0;
    for (; *length < count; *length += AES_BLOCK_SIZE) AES_encrypt(in + *length, out + *length, &context->key);
    return 1;
}

}  // extern "C"
