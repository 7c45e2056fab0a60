// TENFOLD_CASES=3/8: of the cases that a slow test goes through every eighth from the third on, so that several processes share the work
// of a slow checker, or one does a part of it. For tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace tenfold::backends::testing {

class CaseShare {
 public:
  CaseShare() {
    if (const char* text = std::getenv("TENFOLD_CASES")) {
      char* end = nullptr;
      first_ = std::strtol(text, &end, 10);
      of_ = *end == '/' ? std::strtol(end + 1, nullptr, 10) : 0;
      EXPECT_TRUE(first_ >= 1 && first_ <= of_) << "TENFOLD_CASES is K/N, not " << text;
    }
  }
  bool next() { return of_ > 0 && seen_++ % of_ == first_ - 1; }

 private:
  long first_ = 1, of_ = 1, seen_ = 0;
};

}  // namespace tenfold::backends::testing
