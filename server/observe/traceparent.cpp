#include "observe/traceparent.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

namespace tenfold::server {
namespace {

// Lower case, as W3C demands. False: it is no hexadecimal number of this length.
bool read_hex(std::string_view text, std::uint8_t* bytes, std::size_t count) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  if (text.size() != 2 * count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

template <std::size_t Count>
bool is_zero(const std::array<std::uint8_t, Count>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::mt19937_64& numbers() {
  static thread_local std::mt19937_64 engine = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return engine;
}

template <std::size_t Count>
void put(std::array<std::uint8_t, Count>& bytes, std::size_t at, std::uint64_t number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

template <std::size_t Count>
std::string hex_of(const std::array<std::uint8_t, Count>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : bytes) (out += kDigits[byte >> 4]) += kDigits[byte & 15];
  return out;
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  constexpr std::size_t kLength = 55;
  TraceContext context;
  std::uint8_t version = 0, flags = 0;
  if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  if (!read_hex(text.substr(0, 2), &version, 1) || version == 0xff) return std::nullopt;
  // Later versions may say more behind a dash; the first one ends here.
  if (version == 0 ? text.size() != kLength : text.size() > kLength && text[kLength] != '-') return std::nullopt;
  if (!read_hex(text.substr(3, 32), context.trace.data(), 16) || !read_hex(text.substr(36, 16), context.span.data(), 8) ||
      !read_hex(text.substr(53, 2), &flags, 1) || is_zero(context.trace) || is_zero(context.span))
    return std::nullopt;
  context.sampled = (flags & 1) != 0;
  return context;
}

std::array<std::uint8_t, 8> new_span() {
  std::array<std::uint8_t, 8> span{};
  put(span, 0, numbers()() | 1);  // none is zero
  return span;
}

TraceContext new_trace() {
  TraceContext context;
  put(context.trace, 0, numbers()()), put(context.trace, 8, numbers()() | 1);
  return context;
}

TraceContext batch_context(std::string_view model, std::string_view version, std::int64_t start_ns) {
  static const std::uint64_t process = numbers()();
  const std::uint64_t seed = mixed(process ^ std::hash<std::string_view>()(model)) ^ mixed(std::hash<std::string_view>()(version) + 1) ^
                             static_cast<std::uint64_t>(start_ns);
  TraceContext context;
  put(context.trace, 0, mixed(seed)), put(context.trace, 8, mixed(seed + 1) | 1);
  put(context.span, 0, mixed(seed + 2) | 1);
  return context;
}

std::string hex(const std::array<std::uint8_t, 16>& bytes) { return hex_of(bytes); }
std::string hex(const std::array<std::uint8_t, 8>& bytes) { return hex_of(bytes); }

}  // namespace tenfold::server
