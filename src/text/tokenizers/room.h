// How long a text may become on its way through the rules of a file, which come from strangers.
#pragma once

#include <cstddef>
#include <string>

#include "text/fail.h"

namespace tenfold::tokenizing {

// Normal forms make 18 characters of one at most, letters for bytes four; rules that make more of all of a text, one after
// the other, multiply.
class Room {
 public:
  static constexpr std::size_t kForEach = 64, kBesides = 4096;
  explicit Room(std::size_t given) : given_(given), max_(given * kForEach + kBesides) {}
  // To be asked before so much is made. Throws unsupported, naming the rule, "normalizer.normalizers[3]".
  void expect(std::size_t size, const std::string& rule) const {
    if (size > max_)
      fail(ErrorKind::unsupported, rule + ": it makes more than " + std::to_string(max_) + " characters of a text of " +
                                       std::to_string(given_) + "; " + std::to_string(kForEach) + " for each and " +
                                       std::to_string(kBesides) + " more are the most that rules of a tokenizer may make");
  }

 private:
  std::size_t given_, max_;
};

}  // namespace tenfold::tokenizing
