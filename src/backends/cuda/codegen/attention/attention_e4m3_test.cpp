// The products of weights and values of attention_mma.cu in e4m3, done again by the layouts of registers that PTX gives ldmatrix and
// mma.m16n8k32: whether each weight meets its key's value, each result its place, and how far rounded weights are off.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/types/half.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kLanes = 32, kQueries = 16, kKeys = 64, kColumns = 32, kPitch = kColumns + 16;
using Registers = std::uint32_t[kLanes][4];

double value_of(std::uint32_t byte) { return static_cast<double>(small_to_float(kE4M3FN, static_cast<std::uint8_t>(byte))); }
std::uint8_t e4m3(double x) { return float_to_small(kE4M3FN, static_cast<float>(x)); }
std::uint32_t byte_of(std::uint32_t word, int i) { return word >> 8 * i & 0xff; }

std::uint32_t byte_perm(std::uint32_t x, std::uint32_t y, int selector) {
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const int from = selector >> 4 * i & 7;
    result |= byte_of(from < 4 ? x : y, from % 4) << 8 * i;
  }
  return result;
}

// `rows`: the address of each lane.
void ldmatrix_x4_trans(Registers& r, const std::uint8_t* const (&rows)[kLanes]) {
  for (int lane = 0; lane < kLanes; ++lane)
    for (int m = 0; m < 4; ++m) {
      const std::uint8_t *first = rows[8 * m + lane % 4 * 2] + lane / 4 * 2, *second = rows[8 * m + lane % 4 * 2 + 1] + lane / 4 * 2;
      r[lane][m] = static_cast<std::uint32_t>(first[0] | first[1] << 8 | second[0] << 16) | static_cast<std::uint32_t>(second[1]) << 24;
    }
}

void mma(double (&c)[kLanes][4], const Registers& a, const std::uint32_t (&b)[2][kLanes]) {
  double left[16][32], right[32][8];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int j = 0; j < 4; ++j) {
      const int group = lane / 4, k = lane % 4 * 4 + j;
      for (int f = 0; f < 4; ++f) left[group + f % 2 * 8][f / 2 * 16 + k] = value_of(byte_of(a[lane][f], j));
      for (int f = 0; f < 2; ++f) right[f * 16 + k][group] = value_of(byte_of(b[f][lane], j));
    }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int f = 0; f < 4; ++f)
      for (int k = 0; k < 32; ++k) c[lane][f] += left[lane / 4 + f / 2 * 8][k] * right[k][lane % 4 * 2 + f % 2];
}

struct Heads {
  double score[kQueries][kKeys];
  std::vector<std::uint8_t> values = std::vector<std::uint8_t>(kKeys * kPitch);
  double weight(int row, int key, double max) const { return std::exp(score[row][key] - max + 5.545177444); }
  double max(int row) const {
    double m = score[row][0];
    for (double x : score[row]) m = std::max(m, x);
    return m;
  }
};

// As the kernel has it: what a lane makes of its own scores, and where it stores what it adds up.
void attend(const Heads& heads, double (&y)[kQueries][kColumns]) {
  static double out[kColumns / 8][kLanes][4], sum[kLanes][4];
  std::fill_n(&out[0][0][0], kColumns / 8 * kLanes * 4, 0), std::fill_n(&sum[0][0], kLanes * 4, 0);
  for (int s = 0; s < kKeys / 32; ++s) {
    Registers weight{}, b{};
    std::uint32_t ones[2][kLanes], even[2][kLanes], odd[2][kLanes];
    const std::uint8_t* rows[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      for (int f = 0; f < 4; ++f) {
        const int n = 4 * s + f / 2 * 2, row = lane / 4 + f % 2 * 8, pairs = lane % 4 * 2;
        for (int j = 0; j < 4; ++j) {
          const int key = (n + j / 2) * 8 + pairs + j % 2;   // of score[n + j / 2][2 * h + j % 2]
          weight[lane][f] |= static_cast<std::uint32_t>(e4m3(heads.weight(row, key, heads.max(row)))) << 8 * j;
        }
      }
    for (auto& half : ones) std::fill_n(half, kLanes, 0x38383838u);
    mma(sum, weight, ones);
    for (int n = 0; n < kColumns / 8; n += 2) {
      for (int lane = 0; lane < kLanes; ++lane) rows[lane] = heads.values.data() + (s * 32 + lane) * kPitch + n * 8;
      ldmatrix_x4_trans(b, rows);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int f = 0; f < 2; ++f) {
          even[f][lane] = byte_perm(b[lane][2 * f], b[lane][2 * f + 1], 0x6420);
          odd[f][lane] = byte_perm(b[lane][2 * f], b[lane][2 * f + 1], 0x7531);
        }
      mma(out[n], weight, even), mma(out[n + 1], weight, odd);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int h = 0; h < 2; ++h)
      for (int n = 0; n < kColumns / 8; n += 2)
        for (int i = 0; i < 4; ++i)
          y[lane / 4 + 8 * h][n * 8 + lane % 4 * 4 + i] = out[n + i % 2][lane][2 * h + i / 2] / sum[lane][2 * h];
}

TEST(AttentionE4m3, WeightsMeetTheirValues) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> between(-6, 6);
  Heads heads;
  for (auto& row : heads.score)
    for (double& x : row) x = between(random);
  for (std::uint8_t& v : heads.values) v = e4m3(between(random));
  double y[kQueries][kColumns], largest = 0, off = 0;
  attend(heads, y);
  for (int row = 0; row < kQueries; ++row)
    for (int column = 0; column < kColumns; ++column) {
      double rounded = 0, sum = 0, exact = 0, whole = 0;
      for (int key = 0; key < kKeys; ++key) {
        const double w = heads.weight(row, key, heads.max(row));
        const double v = value_of(heads.values[static_cast<std::size_t>(key * kPitch + column)]);
        rounded += value_of(e4m3(w)) * v, sum += value_of(e4m3(w)), exact += w * v, whole += w;
      }
      EXPECT_NEAR(y[row][column], rounded / sum, 1e-12) << row << " " << column;
      largest = std::max(largest, std::fabs(exact / whole)), off = std::max(off, std::fabs(y[row][column] - exact / whole));
    }
  EXPECT_LT(off, 0.06 * largest);   // AttentionFloat8's tolerance
  EXPECT_GT(off, 1e-3 * largest);
}

}  // namespace
}  // namespace tenfold::backends::cuda
