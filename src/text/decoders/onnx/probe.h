// What values that depend on lengths alone are: the file's own graph computes them for a few lengths.
#pragma once

#include <string>
#include <vector>

#include "tenfold/build.h"
#include "text/decoders/onnx/dependence.h"

namespace tenfold::decoders::onnx {

// One sequence: `before` tokens in the cache and `tokens` behind them.
struct Lengths {
  std::int64_t before = 0, tokens = 1;
  std::int64_t all() const { return before + tokens; }
};
std::vector<Lengths> probed_lengths(std::int64_t capacity);

// A value at those lengths, each as doubles. Empty: the graph did not compute it.
struct Samples {
  struct One {
    Lengths lengths;
    std::int64_t keys;   // that a mask has columns for: all, or as many as a cache of fixed length has places
    DType type;
    Shape shape;
    std::vector<double> values;
  };
  std::vector<One> all;
};
// Of the borders, then of the rows, then of the caches' places that the graph computes, of the file as Network::read() gives it anew.
std::vector<Samples> probe(const std::string& file, const BuildConfig& config, const std::vector<Lengths>& lengths);

// What the samples are.
enum class Meaning {
  any_length,   // the same at all lengths, or the numbers of places, which all sequences share
  positions,    // of this run's tokens
  visible,      // a mask: true or 0 where a token sees a key
  hidden,       // the opposite
  unknown,
};
struct Found {
  Meaning meaning = Meaning::unknown;
  bool hides = false;          // a mask: whether it hides any key at all
  std::int64_t window = 0;     // keys that a token sees, itself included; 0: all before it
};
Found understand(const Samples& samples);

}  // namespace tenfold::decoders::onnx
