// SentencePiece's normal forms, which each model brings along as a map.
#include <array>

#include "tenfold/internal/base64.h"
#include "text/tokenizers/normalize/charsmap.h"
#include "text/tokenizers/normalize/normalizer.h"
#include "text/tokenizers/unicode/cluster.h"
#include "text/tokenizers/unicode/normal_form.h"

namespace tenfold::tokenizing {
namespace {

constexpr std::size_t kLongest = 5;   // bytes of a cluster that is looked for as a whole

std::string bytes_of(const Json& json) {
  std::optional<std::string> bytes = from_base64(json.text("precompiled_charsmap"));
  if (!bytes) json.at("precompiled_charsmap").wrong("base64 was expected");
  return *std::move(bytes);
}

class Precompiled : public Normalizer {
 public:
  explicit Precompiled(const Json& json) : map_(bytes_of(json), json.at("precompiled_charsmap")), rule_(json.where) {
    for (char c = 0; c >= 0 && c < 0x7f; ++c) stays_[static_cast<std::size_t>(c)] = !map_.find(std::string_view(&c, 1));
  }

  void run(Chars& chars, const Room& room) const override {
    std::size_t same = 0;   // most text is letters that stay and that nothing behind them changes
    while (same < chars.size() && stays(chars, same)) ++same;
    if (same == chars.size()) return;
    std::vector<Step> steps;
    steps.reserve(chars.size());
    bool changes = false;
    std::string bytes;
    for (std::size_t at = 0, end = 0; at < chars.size(); at = end) {
      if (stays(chars, at)) {
        steps.push_back({chars[at].c, 0}), end = at + 1;
        continue;
      }
      end = cluster_end(chars, at);
      if (end > at + 1 && put_whole({chars.data() + at, end - at}, bytes, steps, room)) {
        changes = true;
        continue;
      }
      for (std::size_t i = at; i < end; ++i) {
        if (put_whole({chars.data() + i, 1}, bytes, steps, room)) changes = true;
        else steps.push_back({chars[i].c, 0});
      }
    }
    if (changes) replace(chars, steps);
  }

 private:
  bool stays(const Chars& chars, std::size_t at) const {
    return chars[at].c < 0x7f && stays_[chars[at].c] && chars[at].c != '\r' && (at + 1 == chars.size() || chars[at + 1].c < 0x300);
  }
  // Puts what the map has for these characters, if it has them.
  bool put_whole(std::span<const Char> part, std::string& bytes, std::vector<Step>& steps, const Room& room) const {
    bytes.clear();
    for (const Char& one : part) append_utf8(one.c, bytes);
    if (part.size() > 1 && bytes.size() > kLongest) return false;
    const std::optional<std::string_view> found = map_.find(bytes);
    if (!found) return false;
    const std::size_t first = steps.size();
    const std::u32string by = scalars(*found);
    room.expect(steps.size() + by.size(), rule_);
    for (const char32_t c : by) steps.push_back({c, 0});
    const std::size_t count = steps.size() - first;
    for (std::size_t i = part.size(); i < count; ++i) steps[steps.size() - 1 - (i - part.size())].change = 1;
    if (count < part.size() && !steps.empty()) steps.back().change -= static_cast<int>(part.size() - count);
    return true;
  }

  Charsmap map_;
  std::string rule_;
  std::array<bool, 128> stays_{};   // characters that the map lacks
};

}  // namespace

std::unique_ptr<Normalizer> read_precompiled(const Json& json) { return std::make_unique<Precompiled>(json); }

}  // namespace tenfold::tokenizing
