#include "native/arrays/whole_look.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tenfold::python {
namespace {

constexpr std::size_t kPiece = 16 << 10;  // bytes that are looked at together, and at least in a call
constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u;

// Each step is a bijection of the word, so that one word that is another always shows. The rotation carries high bits, such as the signs of
// floats, to where the next product spreads them.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) { return std::rotl((hash ^ word) * kOdd, 29); }

std::uint64_t word_at(const std::byte* data, std::size_t bytes = 8) {
  std::uint64_t word = 0;
  std::memcpy(&word, data, bytes);
  return word;
}

// Of eight lanes, which do not wait for each other: the speed of memory is the bound.
std::uint64_t hash_of(const std::byte* data, std::size_t bytes) {
  std::array<std::uint64_t, 8> lanes{};
  const std::byte* const end = data + bytes;
  for (; end - data >= 64; data += 64)
    for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] = mixed(lanes[lane], word_at(data + lane * 8));
  std::uint64_t hash = bytes;
  for (; end - data >= 8; data += 8) hash = mixed(hash, word_at(data));
  if (data != end) hash = mixed(hash, word_at(data, static_cast<std::size_t>(end - data)));
  for (const std::uint64_t lane : lanes) hash = mixed(hash, lane);
  return hash;
}

}  // namespace

void WholeLook::add(std::size_t owner, const std::byte* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t size = std::min(kPiece, bytes - at);
    pieces_.push_back({data + at, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(owner), hash_of(data + at, size)});
  }
  bytes_ += bytes;
}

bool WholeLook::next_is_same() {
  const std::size_t share = std::max(kPiece, (bytes_ + kCalls - 1) / kCalls);
  std::size_t looked = 0;
  for (std::size_t turn = 0; turn < pieces_.size() && looked < share; ++turn) {
    const Piece& piece = pieces_[next_];
    if (hash_of(piece.data, piece.bytes) != piece.hash) return false;   // and so the next call says, too, until somebody has acted
    next_ = next_ + 1 == pieces_.size() ? 0 : next_ + 1;
    looked += piece.bytes;
  }
  return true;
}

std::vector<std::size_t> WholeLook::changed(const std::vector<char>& selected) const {
  std::vector<std::size_t> found;
  for (const Piece& piece : pieces_)
    if (selected[piece.owner] != 0 && (found.empty() || found.back() != piece.owner) && hash_of(piece.data, piece.bytes) != piece.hash)
      found.push_back(piece.owner);
  return found;
}

}  // namespace tenfold::python
