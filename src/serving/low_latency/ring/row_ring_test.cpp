// Rows of many streams beside a plain copy of all that was pushed.
#include "tenfold/row_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <vector>

#include "tenfold/error.h"

namespace tenfold {
namespace {

TEST(RowRing, WindowsAreTheLastRowsInOnePiece) {
  struct Size { std::int64_t rows, width, streams; };
  for (const Size size : {Size{1, 1, 1}, Size{50, 50, 3}, Size{7, 3, 40}, Size{128, 64, 2}, Size{3, 5000, 2}}) {
    RowRing ring(size.rows, size.width * 4, size.streams);
    std::vector<std::deque<std::vector<float>>> truth(static_cast<std::size_t>(size.streams));
    for (auto& stream : truth) stream.assign(static_cast<std::size_t>(size.rows), std::vector<float>(static_cast<std::size_t>(size.width)));
    unsigned random = 3;
    std::vector<std::int64_t> pushed(static_cast<std::size_t>(size.streams));
    for (int n = 0; n < 3000; ++n) {
      random = random * 1664525u + 1013904223u;
      const std::int64_t s = (random >> 8) % size.streams;
      auto& stream = truth[static_cast<std::size_t>(s)];
      std::vector<float> row(static_cast<std::size_t>(size.width), static_cast<float>(n));
      row.back() = static_cast<float>(-n);
      stream.push_back(row), stream.pop_front();
      if (random >> 25 == 0) {
        ring.clear(s), pushed[static_cast<std::size_t>(s)] = 0;
        for (auto& old : stream) std::fill(old.begin(), old.end(), 0.0f);
      } else {
        const void* const before = ring.window(s);
        const std::vector<float> kept(static_cast<const float*>(before), static_cast<const float*>(before) + size.rows * size.width);
        const void* const after = ring.push(s, row.data());
        ASSERT_EQ(after, ring.window(s));
        ASSERT_EQ(std::memcmp(before, kept.data(), kept.size() * 4), 0) << "the window before stays";
        ++pushed[static_cast<std::size_t>(s)];
      }
      ASSERT_EQ(ring.filled(s), std::min(pushed[static_cast<std::size_t>(s)], size.rows));
      const auto* const window = static_cast<const float*>(ring.window(s));
      for (std::size_t r = 0; r < stream.size(); ++r)
        ASSERT_EQ(std::memcmp(window + r * stream[r].size(), stream[r].data(), stream[r].size() * 4), 0) << n << " row " << r;
    }
  }
}

TEST(RowRing, RefusesWhatIsImpossible) {
  EXPECT_THROW(RowRing(0, 4), Error);
  EXPECT_THROW(RowRing(4, -4), Error);
  EXPECT_THROW(RowRing(4, 4, 0), Error);
  EXPECT_THROW(RowRing(std::int64_t{1} << 40, std::int64_t{1} << 40), Error);
#ifndef __SANITIZE_THREAD__  // which ends the program instead
  EXPECT_THROW(RowRing(1, 4, 1'000'000), Error) << "two mappings for each";
#endif
  RowRing ring(2, 4);
  const float x = 1;
  EXPECT_EQ(ring.push(1, &x), nullptr);
  EXPECT_EQ(ring.push(-1, &x), nullptr);
  EXPECT_EQ(ring.window(1), nullptr);
  EXPECT_EQ(ring.filled(7), 0);
  RowRing moved = std::move(ring);
  EXPECT_NE(moved.push(0, &x), nullptr);
  EXPECT_EQ(ring.push(0, &x), nullptr) << "nothing is left of it";
}

}  // namespace
}  // namespace tenfold
