// The key: the model as it was loaded, the outputs that are requested, shapes and elements of the inputs.
#include <xxhash.h>

#include <array>
#include <random>

#include "core/response_cache.h"

namespace tenfold::server {
namespace {

// Nobody who does not know it can make two inputs of equal hashes.
const std::array<std::uint32_t, 64>& secret() {
  static const std::array<std::uint32_t, 64> words = [] {
    std::array<std::uint32_t, 64> drawn{};
    std::random_device device;
    for (std::uint32_t& word : drawn) word = device();
    return drawn;
  }();
  return words;
}

class Hasher {
 public:
  Hasher() { XXH3_128bits_reset_withSecret(&state_, secret().data(), sizeof secret()); }
  void add(const void* bytes, std::size_t size) { XXH3_128bits_update(&state_, bytes, size); }
  XXH128_hash_t digest() const { return XXH3_128bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

void append(std::string& text, std::uint64_t number) { text.append(reinterpret_cast<const char*>(&number), sizeof number); }
void append(std::string& text, std::string_view part) {
  append(text, part.size());
  text.append(part);
}

// All but the elements of tensors that have pieces; each part has its length in front, so that no two requests have one text.
std::string head_of(const Model& model, const InferRequest& request) {
  std::string text;
  text.reserve(CacheKey::kComparedBytes / 8);
  append(text, model.load_number());
  append(text, request.outputs.size());
  for (const std::string& output : request.outputs) append(text, output);
  for (const InferInput& input : request.inputs) {
    append(text, input.name);
    append(text, input.shape.size());
    for (const std::int64_t extent : input.shape) append(text, static_cast<std::uint64_t>(extent));
    for (const std::string& element : input.strings) append(text, element);
  }
  return text;
}

}  // namespace

CacheKey::CacheKey(const Model& model, const InferRequest& request) : text_(head_of(model, request)) {
  std::size_t bytes = text_.size();
  for (const InferInput& input : request.inputs)
    for (const auto& piece : input.pieces) bytes += piece.size();
  const bool compared = bytes <= kComparedBytes;
  if (compared) {
    for (const InferInput& input : request.inputs)
      for (const auto& piece : input.pieces) text_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    const XXH128_hash_t hash = XXH3_128bits_withSecret(text_.data(), text_.size(), secret().data(), sizeof secret());
    low_ = hash.low64, high_ = hash.high64;
    return;
  }
  Hasher hasher;
  hasher.add(text_.data(), text_.size());
  for (const InferInput& input : request.inputs)
    for (const auto& piece : input.pieces) hasher.add(piece.data(), piece.size());
  const XXH128_hash_t hash = hasher.digest();
  low_ = hash.low64, high_ = hash.high64;
  text_.clear();
}

}  // namespace tenfold::server
