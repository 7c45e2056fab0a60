// Pieces of new text: whole characters, and nothing of a stop text.
#include "text/decoders/text_stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tenfold::decoders {
namespace {

// Ids are bytes.
Tokenizer bytes() {
  nlohmann::json words;
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int i = 0; i < 256; ++i) words[std::string("<0x") + kHex[i / 16] + kHex[i % 16] + ">"] = i;
  return Tokenizer::parse(
      nlohmann::json{{"version", "1.0"},
                     {"added_tokens", nlohmann::json::array()},
                     {"decoder", {{"type", "Sequence"}, {"decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}}},
                     {"model", {{"type", "BPE"}, {"vocab", words}, {"merges", nlohmann::json::array()}, {"byte_fallback", true}}}}
          .dump());
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text, const std::vector<std::string>& stop, std::string& all) {
  TextStream stream(tokenizer, stop);
  std::vector<std::string> told;
  for (const char c : text) {
    told.push_back(stream.add(static_cast<unsigned char>(c)));
    if (stream.stopped()) break;
  }
  told.push_back(stream.rest());
  all = stream.text();
  return told;
}

TEST(TextStream, TellsWholeCharacters) {
  const Tokenizer tokenizer = bytes();
  std::string all;
  EXPECT_EQ(pieces(tokenizer, "a\xC3\xB6\xE2\x82\xAC!", {}, all),
            (std::vector<std::string>{"a", "", "\xC3\xB6", "", "", "\xE2\x82\xAC", "!", ""}));
  EXPECT_EQ(all, "a\xC3\xB6\xE2\x82\xAC!");
  const std::vector<std::string> cut = pieces(tokenizer, "a\xE2\x82", {}, all);   // a character that never ends
  EXPECT_EQ(cut.front(), "a");
  EXPECT_NE(cut.back(), "");
}

TEST(TextStream, HoldsBackWhatMayBecomeAStopText) {
  const Tokenizer tokenizer = bytes();
  std::string all;
  EXPECT_EQ(pieces(tokenizer, "xabaabc", {"abc"}, all), (std::vector<std::string>{"x", "", "", "ab", "a", "", "", ""}));
  EXPECT_EQ(all, "xaba");
  EXPECT_EQ(pieces(tokenizer, "xab", {"abc", "q"}, all), (std::vector<std::string>{"x", "", "", "ab"}));
  EXPECT_EQ(all, "xab");
  EXPECT_EQ(pieces(tokenizer, "oneqabc", {"abc", "q"}, all).size(), 5u);   // the first that comes
  EXPECT_EQ(all, "one");
}

}  // namespace
}  // namespace tenfold::decoders
