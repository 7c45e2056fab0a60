#include "text/decoders/text_stream.h"

#include <algorithm>

namespace tenfold::decoders {
namespace {

constexpr std::string_view kIncomplete = "\xEF\xBF\xBD";   // U+FFFD, which stands for bytes that are no whole character yet

}  // namespace

// The text of the tokens behind first_, as it is behind those in front: both windows are decoded, and what the longer one has more is new.
// (So Hugging Face's streams do it.) Bytes that are no characters may change the text in front; then the tokens are decoded alone.
std::string TextStream::decoded() const {
  const std::span all(ids_);
  const std::string before = tokenizer_->decode(all.first(first_)), with = tokenizer_->decode(all);
  return with.starts_with(before) ? with.substr(before.size()) : tokenizer_->decode(all.subspan(first_));
}

std::size_t TextStream::held_back() const {
  std::size_t longest = 0;
  for (const std::string& one : stop_)
    for (std::size_t size = std::min(one.size() - 1, text_.size() - told_); size > longest; --size)
      if (text_.ends_with(std::string_view(one).substr(0, size))) longest = size;
  return longest;
}

std::string TextStream::add(std::int32_t id) {
  ids_.push_back(id);
  if (const std::string piece = decoded(); !piece.empty() && !piece.ends_with(kIncomplete)) {
    text_ += piece;
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = ids_.size();
  }
  std::size_t end = std::string::npos;
  for (const std::string& one : stop_) end = std::min(end, text_.find(one, told_));
  if (end != std::string::npos) text_.resize(end), stopped_ = true;
  const std::size_t until = stopped_ ? text_.size() : text_.size() - held_back();
  std::string piece = text_.substr(told_, until - told_);
  told_ = until;
  return piece;
}

std::string TextStream::rest() {
  if (stopped_) return "";
  if (first_ < ids_.size()) text_ += decoded();  // bytes of a character that never came to its end
  first_ = ids_.size();
  std::string piece = text_.substr(told_);
  told_ = text_.size();
  return piece;
}

}  // namespace tenfold::decoders
