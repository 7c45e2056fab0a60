// Model files of SentencePiece that no training gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tenfold/error.h"
#include "text/tokenizers/files/sentencepiece_model.h"

namespace tenfold::tokenizing {
namespace {

std::string field(char number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string piece(const std::string& text, float score) {
  std::string bits(4, '\0');
  std::memcpy(bits.data(), &score, 4);
  return field(1, field(1, text) + static_cast<char>(2 << 3 | 5) + bits);
}

TEST(Sentencepiece, ReadsScores) {
  const SentencepieceModel model = read_sentencepiece(piece("<unk>", 0) + piece("a", -1.5f), "m");
  ASSERT_EQ(model.pieces.size(), 2u);
  EXPECT_EQ(model.pieces[1].text, "a");
  EXPECT_EQ(model.pieces[1].score, -1.5f);
}

// Merges are sorted by scores, and what compares with nothing has no place in an order.
TEST(Sentencepiece, RefusesScoresThatAreNoNumbers) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    try {
      read_sentencepiece(piece("<unk>", 0) + piece("ab", bad), "spiece.model");
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_model);
      EXPECT_NE(std::string(e.what()).find("piece 1 ('ab') has a score that is no finite number"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace tenfold::tokenizing
