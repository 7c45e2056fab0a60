// Bytes in pieces: parts of a mapped file, and text between them. So a file of gigabytes is edited without a copy of it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::onnx_export {

class Rope {
 public:
  using Bytes = std::span<const std::byte>;
  void refer(Bytes part);                                            // which stays where it is, and outlives this
  void refer(Bytes part, std::shared_ptr<const void> owner);         // which is kept
  void add(std::string text);
  void add(Rope other);
  std::size_t size() const { return size_; }
  const std::vector<Bytes>& pieces() const { return pieces_; }
  std::string flat() const;

 private:
  std::vector<Bytes> pieces_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::size_t size_ = 0;
};

// Fields of protocol buffers at the end of a rope; a message's length stands before it.
void put_integer(Rope& to, int field, std::int64_t value);
void put_text(Rope& to, int field, std::string_view text);
void put_message(Rope& to, int field, Rope message);

}  // namespace tenfold::onnx_export
