// A look at all bytes of many pieces of memory, a part at each call: what no count of writes tells of is found within a known number of
// calls, for a small part of the time that an engine takes to read the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenfold::python {

class WholeLook {
 public:
  static constexpr std::size_t kCalls = 16;  // the most that it takes to look at all

  // Memory of `bytes` bytes as it is now, which belongs to `owner`.
  void add(std::size_t owner, const std::byte* data, std::size_t bytes);
  // Looks at the next part. False: it holds other bytes than it did.
  bool next_is_same();
  // The owners whose memory holds other bytes, of those that `selected` has a 1 for: a look at all of it.
  std::vector<std::size_t> changed(const std::vector<char>& selected) const;

 private:
  struct Piece {
    const std::byte* data;
    std::uint32_t bytes;
    std::uint32_t owner;
    std::uint64_t hash;
  };
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0, next_ = 0;
};

}  // namespace tenfold::python
