// XXH3 of bytes that come piece by piece.
#pragma once

#include <memory>

#include "base/files/hash.h"

namespace tenfold {

class HashStream {
 public:
  explicit HashStream(std::uint64_t seed = 0);
  ~HashStream();
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;   // hash64() of all bytes so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenfold
