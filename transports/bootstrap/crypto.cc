#include "transports/bootstrap/crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sys/random.h>

#include <cerrno>

namespace rondo {

namespace {

Status CryptoError(const char* what) {
  return Status(Code::kResourceExhausted,
                std::string("libcrypto failed in ") + what);
}

// The service threads may still sign a heartbeat while the process exits, so
// libcrypto must not free its tables in an exit handler under their feet.
EVP_MAC* HmacMethod() {
  static EVP_MAC* const method = [] {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    return EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  }();
  return method;
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

void HmacKey::Free::operator()(evp_mac_ctx_st* context) const {
  EVP_MAC_CTX_free(context);
}

Result<HmacKey> HmacKey::Create(std::string_view key) {
  EVP_MAC* const method = HmacMethod();
  if (method == nullptr) return CryptoError("EVP_MAC_fetch");
  Context context(EVP_MAC_CTX_new(method));
  if (context == nullptr) return CryptoError("EVP_MAC_CTX_new");
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  if (EVP_MAC_init(context.get(), Bytes(key), key.size(), parameters) != 1) {
    return CryptoError("EVP_MAC_init");
  }
  return HmacKey(std::move(context));
}

Result<Digest> HmacKey::Sign(
    std::initializer_list<std::string_view> parts) const {
  // A copy of the keyed context is cheaper than keying a new one.
  Context context(EVP_MAC_CTX_dup(keyed_.get()));
  if (context == nullptr) return CryptoError("EVP_MAC_CTX_dup");
  for (std::string_view part : parts) {
    if (EVP_MAC_update(context.get(), Bytes(part), part.size()) != 1) {
      return CryptoError("EVP_MAC_update");
    }
  }
  Digest digest;
  size_t written = 0;
  if (EVP_MAC_final(context.get(), digest.data(), &written, digest.size()) !=
          1 ||
      written != digest.size()) {
    return CryptoError("EVP_MAC_final");
  }
  return digest;
}

Result<Digest> HmacSha256(std::string_view key,
                          std::initializer_list<std::string_view> parts) {
  RONDO_ASSIGN_OR_RETURN(HmacKey keyed, HmacKey::Create(key));
  return keyed.Sign(parts);
}

Status FillRandom(void* bytes, size_t count) {
  auto* next = static_cast<uint8_t*>(bytes);
  while (count > 0) {
    const ssize_t got = getrandom(next, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return SystemError("getrandom", errno);
    next += got;
    count -= static_cast<size_t>(got);
  }
  return Status::Ok();
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace rondo
