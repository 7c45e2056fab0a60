// Numbers out of a file's bytes, whose end is looked for at each.
#pragma once

#include <cstdint>
#include <string_view>

#include "images/pixels.h"

namespace tenfold::images {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size() - at_; }
  bool at_end() const { return at_ == bytes_.size(); }
  void go_to(std::uint64_t at) {
    if (at > bytes_.size()) throw BrokenImage("it ends before byte " + std::to_string(at));
    at_ = static_cast<std::size_t>(at);
  }
  std::uint8_t byte() {
    if (at_end()) throw BrokenImage("it ends after " + std::to_string(at_) + " bytes, in the middle of its data");
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint8_t peek() const { return at_end() ? 0 : static_cast<std::uint8_t>(bytes_[at_]); }
  std::uint32_t little16() { const std::uint32_t low = byte(); return low | static_cast<std::uint32_t>(byte()) << 8; }
  std::uint32_t little32() { const std::uint32_t low = little16(); return low | little16() << 16; }
  // The next `size` bytes. `what`: for the message.
  std::string_view take(std::uint64_t size, const char* what) {
    if (size > left())
      throw BrokenImage(std::string(what) + " takes " + std::to_string(size) + " bytes, and " + std::to_string(left()) + " are left");
    const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return part;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace tenfold::images
