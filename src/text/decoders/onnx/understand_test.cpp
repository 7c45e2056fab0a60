// What samples of masks and positions are taken for, at the lengths that probes have.
#include <gtest/gtest.h>

#include <cmath>

#include "text/decoders/onnx/probe.h"

namespace tenfold::decoders::onnx {
namespace {

using Value = double (*)(std::int64_t place, std::int64_t key);

// [1, 1, tokens, keys] of a function of places.
Samples mask(DType type, Value value, std::int64_t capacity = 64) {
  Samples samples;
  for (const Lengths& at : probed_lengths(capacity)) {
    Samples::One one{at, at.all(), type, {1, 1, at.tokens, at.all()}, {}};
    for (std::int64_t row = 0; row < at.tokens; ++row)
      for (std::int64_t key = 0; key < at.all(); ++key) one.values.push_back(value(at.before + row, key));
    samples.all.push_back(std::move(one));
  }
  return samples;
}

// [1, tokens] of a function of places.
Samples row(double (*value)(std::int64_t place)) {
  Samples samples;
  for (const Lengths& at : probed_lengths(64)) {
    Samples::One one{at, at.all(), DType::i64, {1, at.tokens}, {}};
    for (std::int64_t i = 0; i < at.tokens; ++i) one.values.push_back(value(at.before + i));
    samples.all.push_back(std::move(one));
  }
  return samples;
}

void expect(const Samples& samples, Meaning meaning, bool hides = false, std::int64_t window = 0) {
  const Found found = understand(samples);
  EXPECT_EQ(found.meaning, meaning);
  EXPECT_EQ(found.hides, hides);
  EXPECT_EQ(found.window, window);
}

TEST(Understand, CausalMasks) {
  expect(mask(DType::boolean, [](std::int64_t p, std::int64_t k) { return k <= p ? 1.0 : 0.0; }), Meaning::visible, true);
  expect(mask(DType::boolean, [](std::int64_t p, std::int64_t k) { return k <= p ? 0.0 : 1.0; }), Meaning::hidden, true);
  expect(mask(DType::f32, [](std::int64_t p, std::int64_t k) { return k <= p ? 0.0 : -INFINITY; }), Meaning::visible, true);
  expect(mask(DType::f16, [](std::int64_t p, std::int64_t k) { return k <= p ? 0.0 : -65504.0; }), Meaning::visible, true);
}

TEST(Understand, Windows) {
  expect(mask(DType::f32, [](std::int64_t p, std::int64_t k) { return k <= p && p - k < 5 ? 0.0 : -1e4; }), Meaning::visible, true, 5);
  expect(mask(DType::boolean, [](std::int64_t p, std::int64_t k) { return k > p || p - k >= 63 ? 1.0 : 0.0; }), Meaning::hidden, true, 63);
}

TEST(Understand, WhatHidesNothing) {
  expect(mask(DType::boolean, [](std::int64_t, std::int64_t) { return 1.0; }), Meaning::any_length);
  expect(mask(DType::f32, [](std::int64_t, std::int64_t k) { return k < 0 ? -INFINITY : 0.0; }), Meaning::any_length);
}

TEST(Understand, Positions) {
  expect(row([](std::int64_t p) { return static_cast<double>(p); }), Meaning::positions);
  expect(row([](std::int64_t p) { return static_cast<double>(p + 2); }), Meaning::unknown);
  expect(row([](std::int64_t) { return 7.0; }), Meaning::any_length);
}

TEST(Understand, EmptyValues) {   // at all lengths but the last
  Samples samples;
  for (const Lengths& at : probed_lengths(64)) samples.all.push_back({at, at.all(), DType::f32, {0}, {}});
  samples.all.back().shape = {2}, samples.all.back().values = {0, 0};
  EXPECT_EQ(understand(samples).meaning, Meaning::unknown);
}

TEST(Understand, WhatIsNone) {
  expect(mask(DType::f32, [](std::int64_t p, std::int64_t k) { return k <= p ? 0.5 * static_cast<double>(k - p) : -INFINITY; }),
         Meaning::unknown);   // ALiBi
  expect(mask(DType::f32, [](std::int64_t p, std::int64_t k) { return k <= p ? 0.0 : -100.0; }), Meaning::unknown);
  expect(mask(DType::boolean, [](std::int64_t p, std::int64_t k) { return k < p ? 1.0 : 0.0; }), Meaning::unknown);   // not itself
  expect(mask(DType::boolean, [](std::int64_t p, std::int64_t k) { return k <= p && k != 1 ? 1.0 : 0.0; }), Meaning::unknown);
  expect(Samples{}, Meaning::unknown);
}

}  // namespace
}  // namespace tenfold::decoders::onnx
