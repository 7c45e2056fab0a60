#include "embed/text_windows.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tenfold/internal/interrupts.h"

namespace tenfold::cli {
namespace {

// What is done is kept window by window: a window takes seconds at most, the first ones less. In larger ones more texts have one length.
constexpr std::size_t kTexts = 4096;
constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr std::size_t kSmaller = 2;   // so many windows in front have half and a quarter of that

// FNV-1a of 64 bits, and the length in front, so that texts do not flow into each other.
constexpr std::uint64_t kStart = 0xcbf29ce484222325, kPrime = 0x100000001b3;
void add(std::uint64_t& digest, const std::string& text) {
  for (std::uint64_t n = text.size(), i = 0; i < 8; ++i, n >>= 8) digest = (digest ^ (n & 0xff)) * kPrime;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * kPrime;
}

}  // namespace

TextWindows::TextWindows(formats::TextStream next) : next_(std::move(next)), digest_(kStart) {}

TextWindow TextWindows::read() {
  TextWindow window;
  window.first = texts_;
  std::string text;
  const std::size_t max_texts = kTexts >> (kSmaller - std::min(kSmaller, windows_++));
  for (std::size_t bytes = 0; window.texts.size() < max_texts && bytes < kBytes && next_(text);) {
    add(digest_, text);
    bytes += text.size();
    window.texts.push_back(std::move(text));
  }
  texts_ += window.texts.size();
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(digest_));
  window.digest = digits;
  return window;
}

const TextWindow& TextWindows::peek() {
  if (!peeked_) ready_ = next(), peeked_ = true;
  return ready_;
}

TextWindow TextWindows::next() {
  if (peeked_) return peeked_ = false, std::move(ready_);
  if (ended_) return {};
  const auto ahead = [this] { reading_ = std::async(std::launch::async, [this] { return read(); }); };
  if (!reading_.valid()) ahead();
  while (reading_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) throw_if_cancelled();  // it may be a pipe
  TextWindow window = reading_.get();
  if (window.texts.empty())
    ended_ = true;
  else
    ahead();
  return window;
}

}  // namespace tenfold::cli
