// Memory for characters that a text gets on its way, such as a space before it or letters that stand for bytes.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "text/chars.h"
#include "text/tokenizers/room.h"

namespace tenfold::tokenizing {

class Made {
 public:
  // A text of so many characters follows, which a pre-tokenizer may make longer.
  void allow(std::size_t given) { given_ += given; }
  // Stays where it is until clear(). Throws unsupported where all that was taken is longer than the texts may become.
  std::span<Char> take(std::size_t count) {
    Room(given_).expect(taken_ += count, "pre_tokenizer");
    while (at_ < blocks_.size() && blocks_[at_].size - used_ < count) ++at_, used_ = 0;
    if (at_ == blocks_.size()) {
      const std::size_t size = std::max(count, kBlock);
      blocks_.push_back({std::make_unique<Char[]>(size), size}), used_ = 0;
    }
    Char* first = blocks_[at_].chars.get() + used_;
    used_ += count;
    return {first, count};
  }
  // For the next text. What one long text needed is given back.
  void clear() {
    if (blocks_.size() > 1) blocks_.resize(1);
    if (!blocks_.empty() && blocks_[0].size > kBlock) blocks_.clear();
    at_ = used_ = taken_ = given_ = 0;
  }

 private:
  static constexpr std::size_t kBlock = 1 << 14;
  struct Block {
    std::unique_ptr<Char[]> chars;
    std::size_t size;
  };
  std::vector<Block> blocks_;
  std::size_t taken_ = 0, given_ = 0;
  std::size_t at_ = 0, used_ = 0;   // the block that is being used, and how much of it is
};

}  // namespace tenfold::tokenizing
