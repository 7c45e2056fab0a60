// The tokens of words that a thread met lately: most words of a text are few.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "text/tokenizers/models/model.h"

namespace tenfold::tokenizing {

class WordCache {
 public:
  static constexpr std::size_t kMaxChars = 15, kMaxTokens = 8;

  struct Entry {
    std::uint32_t model = 0;   // 0: nothing is kept here
    std::uint8_t chars = 0, tokens = 0;
    std::array<std::uint8_t, kMaxTokens> ends;   // of each token, in characters of the word
    std::array<std::int32_t, kMaxTokens> ids;
    std::array<char32_t, kMaxChars> text;

    bool holds(std::uint32_t which, Word word) const {
      if (model != which || chars != word.size()) return false;
      for (std::size_t i = 0; i < word.size(); ++i)
        if (text[i] != word[i].c) return false;
      return true;
    }
    void give(Word word, std::vector<Token>& out) const {
      std::size_t begin = 0;
      for (std::size_t i = 0; i < tokens; begin = ends[i++]) out.push_back({ids[i], word[begin].begin, word[ends[i] - 1u].end});
    }
    // `id(i)` and `length(i)`, in characters, of each token; they cover the word.
    template <class Id, class Length>
    void keep(std::uint32_t which, Word word, std::size_t count, Id&& id, Length&& length) {
      model = which, chars = static_cast<std::uint8_t>(word.size()), tokens = static_cast<std::uint8_t>(count);
      for (std::size_t i = 0; i < word.size(); ++i) text[i] = word[i].c;
      std::size_t end = 0;
      for (std::size_t i = 0; i < count; ++i) ids[i] = id(i), ends[i] = static_cast<std::uint8_t>(end += length(i));
    }
  };

  static std::uint32_t new_model();   // a number that no other model has
  // Where the word is kept, if it is.
  static Entry& entry(std::uint32_t model, Word word) {
    thread_local WordCache one;
    std::uint64_t mixed = model;
    for (const Char& c : word) mixed = (mixed ^ c.c) * 0x9e3779b97f4a7c15u;
    return one.entries_[mixed >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 12;
  WordCache() : entries_(std::size_t{1} << kBits) {}
  std::vector<Entry> entries_;
};

}  // namespace tenfold::tokenizing
