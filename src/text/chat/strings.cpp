#include "text/chat/strings.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "text/chars.h"
#include "text/fail.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::chat {

using tokenizing::append_utf8;
using tokenizing::scalars;
using tokenizing::Unicode;

namespace {

char32_t upper_letter(char32_t c) {
  static const std::unordered_map<char32_t, char32_t> kUpper = [] {
    std::unordered_map<char32_t, char32_t> all;
    for (char32_t from = 0; from < 0x1F000; ++from)
      if (const auto to = Unicode::tables().lower(from); to.size() == 1 && to[0] != from) all.emplace(to[0], from);
    return all;
  }();
  if (c < 128) return c >= 'a' && c <= 'z' ? c - 32 : c;
  const auto found = kUpper.find(c);
  return found == kUpper.end() ? c : found->second;
}

void append_lower(char32_t c, std::string& to) {
  const auto lower = Unicode::tables().lower(c);
  if (lower.empty()) return append_utf8(c, to);
  for (const char32_t one : lower) append_utf8(one, to);
}

std::string utf8(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) append_utf8(c, out);
  return out;
}

void add_part(List& parts, std::string part) {
  constexpr std::size_t kMaxParts = 1'000'000;
  if (parts.size() == kMaxParts)
    tokenizing::fail(ErrorKind::invalid_argument, "a text has more than " + std::to_string(kMaxParts) + " parts");
  parts.emplace_back(std::move(part));
}

std::string backwards(const std::string& text) { return {text.rbegin(), text.rend()}; }

List split_white(const std::string& text, std::int64_t times, bool from_right) {
  const std::u32string all = scalars(text);
  List parts;
  std::size_t begin = 0, end = all.size();
  const auto strip = [&] {
    while (begin < end && is_white(all[begin])) ++begin;
    while (end > begin && is_white(all[end - 1])) --end;
  };
  const std::u32string_view view(all);
  for (strip(); begin < end; strip()) {
    std::size_t cut = from_right ? end : begin;
    if (times >= 0 && static_cast<std::int64_t>(parts.size()) >= times) {  // the rest keeps the white space at its far end
      const std::size_t first = from_right ? 0 : begin, last = from_right ? end : all.size();
      add_part(parts, utf8(view.substr(first, last - first)));
      break;
    }
    if (from_right)
      while (cut > begin && !is_white(all[cut - 1])) --cut;
    else
      while (cut < end && !is_white(all[cut])) ++cut;
    add_part(parts, utf8(from_right ? view.substr(cut, end - cut) : view.substr(begin, cut - begin)));
    (from_right ? end : begin) = cut;
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace

bool is_white(char32_t c) { return Unicode::tables().is(c, tokenizing::kSpace) || (c >= 0x1C && c <= 0x1F); }

std::size_t place_of(std::string_view text, std::string_view part, std::size_t from) {
  const void* at = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return at ? static_cast<std::size_t>(static_cast<const char*>(at) - text.data()) : std::string::npos;
}

std::size_t last_place_of(const std::string& text, const std::string& part) {
  const std::size_t behind = place_of(backwards(text), backwards(part));
  return behind == std::string::npos ? behind : text.size() - behind - part.size();
}

std::string lower(const std::string& text) {
  std::string out;
  for (const char32_t c : scalars(text)) append_lower(c, out);
  return out;
}

std::string upper(const std::string& text) {
  std::string out;
  for (const char32_t c : scalars(text)) {
    if (c == 0xDF)
      out += "SS";
    else
      append_utf8(upper_letter(c), out);
  }
  return out;
}

std::string titled(const std::string& text, const std::function<bool(char32_t)>& separates) {
  std::string out;
  bool first = true;
  for (const char32_t c : scalars(text)) {
    if (first)
      append_utf8(upper_letter(c), out);
    else
      append_lower(c, out);
    first = separates(c);
  }
  return out;
}

std::string capitalized(const std::string& text) {
  return titled(text, [](char32_t) { return false; });
}

std::string stripped(const std::string& text, const std::string& which, bool left, bool right) {
  const std::u32string all = scalars(text);
  std::u32string set = scalars(which);
  std::sort(set.begin(), set.end());
  const auto goes = [&](char32_t c) { return set.empty() ? is_white(c) : std::binary_search(set.begin(), set.end(), c); };
  std::size_t begin = 0, end = all.size();
  while (left && begin < end && goes(all[begin])) ++begin;
  while (right && end > begin && goes(all[end - 1])) --end;
  return utf8(std::u32string_view(all).substr(begin, end - begin));
}

List split(const std::string& text, const std::string& separator, std::int64_t times, bool from_right) {
  if (separator.empty()) return split_white(text, times, from_right);
  List parts;
  if (from_right) {
    for (const Value& part : split(backwards(text), backwards(separator), times, false)) parts.emplace_back(backwards(*part.text()));
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  std::size_t begin = 0;
  while (times < 0 || static_cast<std::int64_t>(parts.size()) < times) {
    const std::size_t at = place_of(text, separator, begin);
    if (at == std::string::npos) break;
    add_part(parts, text.substr(begin, at - begin));
    begin = at + separator.size();
  }
  add_part(parts, text.substr(begin));
  return parts;
}

List lines(const std::string& text, bool keep_ends) {
  const auto ends = [](char32_t c) {
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
  };
  const std::u32string all = scalars(text);
  List parts;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && !ends(all[end])) ++end;
    std::size_t next = std::min(end + 1, all.size());
    if (next < all.size() && all[end] == '\r' && all[next] == '\n') ++next;
    add_part(parts, utf8(std::u32string_view(all).substr(begin, (keep_ends ? next : end) - begin)));
    begin = next;
  }
  return parts;
}

std::string replaced(const std::string& text, const std::string& old, const std::string& with, std::int64_t times) {
  std::string out;
  std::size_t at = 0;
  const auto fits = [&] {
    if (out.size() > static_cast<std::size_t>(Value::kLargest)) tokenizing::fail(ErrorKind::invalid_argument, "a text is too large");
  };
  if (old.empty()) {  // between all characters
    for (const char32_t c : scalars(text)) {
      if (times != 0) out += with, times -= times > 0 ? 1 : 0;
      append_utf8(c, out), fits();
    }
    return times != 0 ? out + with : out;
  }
  for (std::size_t next; times != 0 && (next = place_of(text, old, at)) != std::string::npos; at = next + old.size()) {
    out.append(text, at, next - at).append(with), fits();
    if (times > 0) --times;
  }
  return out.append(text, at);
}

std::int64_t count(const std::string& text, const std::string& part) {
  if (part.empty()) return static_cast<std::int64_t>(scalars(text).size()) + 1;
  std::int64_t times = 0;
  for (std::size_t at = 0; (at = place_of(text, part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

bool all_of(const std::string& text, const std::function<bool(char32_t)>& holds) {
  const std::u32string all = scalars(text);
  return !all.empty() && std::all_of(all.begin(), all.end(), holds);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    constexpr std::string_view kSpecial = "&<>'\"";
    constexpr const char* kMeant[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    const std::size_t at = kSpecial.find(c);
    if (at == std::string_view::npos)
      out += c;
    else
      out += kMeant[at];
  }
  return out;
}

}  // namespace tenfold::chat
