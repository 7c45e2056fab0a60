// New tokens as text, piece by piece: whole characters, and nothing of what may become a stop text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tenfold/text.h"

namespace tenfold::decoders {

class TextStream {
 public:
  TextStream(const Tokenizer& tokenizer, std::span<const std::string> stop) : tokenizer_(&tokenizer), stop_(stop) {}
  // The text that this token completes. stopped() once a stop text is there.
  std::string add(std::int32_t id);
  std::string rest();                    // what was held back, at the end
  bool stopped() const { return stopped_; }
  const std::string& text() const { return text_; }   // all of it, without a stop text

 private:
  std::string decoded() const;
  std::size_t held_back() const;         // bytes at the end that a stop text may begin with
  const Tokenizer* tokenizer_;
  std::span<const std::string> stop_;
  std::vector<std::int32_t> ids_;        // those behind `first_`'s text, with some in front: a token's text depends on the one before
  std::size_t first_ = 0;                // ids_ below it are told already
  std::string text_;
  std::size_t told_ = 0;                 // bytes of text_
  bool stopped_ = false;
};

}  // namespace tenfold::decoders
