// This processor's loops give the same weights as the plain ones, bit for bit, and the same products within rounding.
#include "backends/cpu/gemm/weights/decode_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tenfold::backends::cpu {
namespace {

using Loop = void (*DecodeLoops::*)(const DecodeLoops::Line&);
constexpr int kRows = 16;
const std::vector<float> kSteps = {1, 2, 0.5f, 3e-5f, 7, 0, 1e-38f, 1e30f, 1, 1, 1, 2, 2, 2, 3, 1e-6f};
const std::vector<float> kBalance = {1, 0.5f, 3, 1e-6f, 1e7f, 2, 2, 2, 1, 1, 0.1f, 0.3f, 1e-30f, 5, 6, 7};

std::vector<double> decoded(const DecodeLoops& loops, Loop loop, DecodeLoops::Line line) {
  std::vector<double> to(kRows * DecodeLoops::kColumns, -1);
  line.step = kSteps.data(), line.balance = kBalance.data(), line.to = to.data();
  (loops.*loop)(line);
  return to;
}

// Bytes of any value, among them integers at the limit and behind it.
std::vector<char> integers(int largest) {
  std::vector<char> bytes(16 * 1024);
  std::mt19937 random(5);
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (int i = 0; i < 6; ++i) {
    const int value = (i < 3 ? largest : -largest - 2) + i % 3;
    const auto pair = static_cast<std::int16_t>(value);
    std::memcpy(bytes.data() + i * 4, &pair, 2);
  }
  return bytes;
}

TEST(DecodeLoops, WeightsAreThePlainLoops) {
  const std::vector<char> bytes = integers(0x7ffd);
  const std::vector<std::pair<Loop, int>> loops = {{&DecodeLoops::pairs, 2}, {&DecodeLoops::bytes, 2}, {&DecodeLoops::tiles, 4}};
  for (const auto& [loop, ats] : loops)
    for (int at = 0; at < ats; ++at)
      for (const int largest : {0, 0x7ffd, 300})
        for (const int rows : {1, 3, ats == 4 ? kRows - at : kRows}) {
          const DecodeLoops::Line line{.from = bytes.data(), .stride = 64 * 8, .at = at, .rows = rows, .largest = largest};
          const std::vector<double> mine = decoded(decode_loops(), loop, line), plain = decoded(portable_decode_loops(), loop, line);
          // No number has many bits; all else is compared bit by bit.
          for (std::size_t i = 0; i < mine.size(); ++i)
            EXPECT_TRUE(std::isnan(plain[i]) ? std::isnan(mine[i]) : std::memcmp(&mine[i], &plain[i], 8) == 0) << i << ": " << plain[i];
        }
}

TEST(DecodeLoops, IntegersBehindTheLargestAreNoFloats) {
  const std::vector<char> bytes = integers(0x7ffd);
  const DecodeLoops::Line line{.from = bytes.data(), .stride = 64 * 8, .at = 0, .rows = 1, .largest = 0x7ffd};
  for (const DecodeLoops* loops : {&decode_loops(), &portable_decode_loops()}) {
    const std::vector<double> to = decoded(*loops, &DecodeLoops::pairs, line);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(to[0], 0x7ffd);
    EXPECT_EQ(to[1], kInfinity);
    EXPECT_TRUE(std::isnan(to[3]));   // -largest - 2
    EXPECT_EQ(to[4], -kInfinity);
    EXPECT_EQ(to[5], 0);              // a step of zero
  }
}

TEST(DecodeLoops, Products) {
  constexpr int kDepth = 7, kColumns = DecodeLoops::kColumns;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> weights(kDepth * kColumns);
  for (double& w : weights) w = normal(random);
  std::vector<std::vector<float>> rows(DecodeLoops::kMaxRows, std::vector<float>(kDepth + 2));
  std::vector<const float*> table;
  for (std::vector<float>& row : rows) {
    for (float& v : row) v = static_cast<float>(normal(random));
    table.push_back(row.data());
  }
  rows[2][4] = std::numeric_limits<float>::infinity(), rows[4][5] = std::nanf("");
  for (int count = 1; count <= DecodeLoops::kMaxRows; ++count) {
    std::vector<double> mine(static_cast<std::size_t>(count * kColumns), 0.25), plain = mine;
    decode_loops().add({table.data(), count, 2, kDepth, weights.data(), mine.data()});
    portable_decode_loops().add({table.data(), count, 2, kDepth, weights.data(), plain.data()});
    for (std::size_t i = 0; i < mine.size(); ++i) {
      double expected = 0.25;
      for (std::size_t k = 0; k < kDepth; ++k) expected += double{rows[i / kColumns][k + 2]} * weights[k * kColumns + i % kColumns];
      for (const double got : {mine[i], plain[i]})
        EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected || std::abs(got - expected) < 1e-12) << got << " " << expected;
    }
  }
}

}  // namespace
}  // namespace tenfold::backends::cpu
