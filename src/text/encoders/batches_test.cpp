// How the texts of a window become pieces.
#include "text/encoders/batches.h"

#include <gtest/gtest.h>

namespace tenfold::encoders {
namespace {

TEST(Batches, PiecesOfAWindowHoldEachTextOnceTheLongestFirst) {
  const auto window = std::make_shared<Window>();
  for (const std::size_t length : {3, 5, 3, 1, 3, 5})
    window->tokens.ends.push_back((window->tokens.ends.empty() ? 0 : window->tokens.ends.back()) + length);
  const std::vector<WorkItem> all = pieces_of(window, [](std::int64_t length) { return length == 3 ? 2 : 8; });
  std::vector<std::vector<std::size_t>> texts;
  for (const WorkItem& piece : all) texts.push_back(piece.texts);
  EXPECT_EQ(texts, (std::vector<std::vector<std::size_t>>{{1, 5}, {0, 2}, {4}, {3}}));
  EXPECT_EQ(all[0].tokens(), 10);
}

}  // namespace
}  // namespace tenfold::encoders
