// Broadcasting strings, and their letters' case.
#include "ops/text/text_common.h"

#include <cwctype>
#include <locale.h>
#include <wctype.h>

#include "base/check.h"
#include "ops/elements.h"

namespace tenfold::ops {

BroadcastPair broadcast_pair(const ir::ValueCall& call) {
  const Shape &a = call.tensor(0).shape(), &b = call.tensor(1).shape();
  const std::size_t rank = std::max(a.size(), b.size());
  BroadcastPair pair;
  const auto extent = [&](const Shape& s, std::size_t d) { return d + s.size() < rank ? 1 : s[d + s.size() - rank]; };
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t x = extent(a, d), y = extent(b, d);
    call.check_shape(x == y || x == 1 || y == 1, "shapes ", text(a), " and ", text(b), " do not broadcast");
    pair.shape.push_back(x == 1 ? y : x);
  }
  const auto place = [&](const Shape& s, const Shape& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < s.size(); ++d) at = at * s[d] + (s[d] == 1 ? 0 : index[d + rank - s.size()]);
    return at;
  };
  for_each_index(pair.shape, [&](const Shape& index, std::int64_t) { pair.places.emplace_back(place(a, index), place(b, index)); });
  return pair;
}

void infer_broadcast_strings(ir::InferCall& call, DType result) { call.out(0, result, ir::broadcast(call.dims(0), call.dims(1))); }

int decode_character(const std::string& text, std::size_t at, std::uint32_t& character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  const int length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (length == 0 || at + static_cast<std::size_t>(length) > text.size()) return 0;
  character = length == 1 ? first : first & (0x7fu >> length);
  for (int i = 1; i < length; ++i) {
    const unsigned next = byte(at + static_cast<std::size_t>(i));
    if (next >> 6 != 2) return 0;
    character = character << 6 | (next & 0x3f);
  }
  return length;
}

namespace {

void encode(std::string& to, std::uint32_t c) {
  if (c < 0x80) {
    to += static_cast<char>(c);
    return;
  }
  const int length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  to += static_cast<char>((0xf00 >> length & 0xff) | c >> (6 * (length - 1)));
  for (int i = length - 2; i >= 0; --i) to += static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
}

}  // namespace

std::string changed_case(const std::string& text, bool upper) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);   // null: of ASCII alone
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t c = 0;
    const int length = decode_character(text, at, c);
    if (length == 0) {
      result += text[at++];
      continue;
    }
    at += static_cast<std::size_t>(length);
    if (c < 0x80) c = upper && c >= 'a' && c <= 'z' ? c - 32 : !upper && c >= 'A' && c <= 'Z' ? c + 32 : c;
    else if (unicode) c = static_cast<std::uint32_t>(upper ? towupper_l(c, unicode) : towlower_l(c, unicode));
    encode(result, c);
  }
  return result;
}

}  // namespace tenfold::ops
