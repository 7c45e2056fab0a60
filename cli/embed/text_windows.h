// A stream of texts in windows of bounded memory, the next one read while the last is used, and a digest of all so far.
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "formats/texts/text_stream.h"

namespace tenfold::cli {

struct TextWindow {
  std::size_t first = 0;           // how many texts come before
  std::vector<std::string> texts;  // empty: there are no more
  std::string digest;              // of all texts up to here, these included
};

// Windows depend on the texts alone, so that a later run finds the same ones.
class TextWindows {
 public:
  explicit TextWindows(formats::TextStream next);
  const TextWindow& peek();  // the window that next() gives
  TextWindow next();         // throws what the stream throws, and cancelled (tenfold/internal/interrupts.h)

 private:
  TextWindow read();
  formats::TextStream next_;
  std::uint64_t digest_;
  std::size_t texts_ = 0, windows_ = 0;  // that were read
  std::future<TextWindow> reading_;
  TextWindow ready_;
  bool peeked_ = false, ended_ = false;
};

}  // namespace tenfold::cli
