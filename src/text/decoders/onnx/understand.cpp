// What the samples of a value say that it is.
#include <algorithm>
#include <cmath>
#include <functional>

#include "text/decoders/onnx/probe.h"

namespace tenfold::decoders::onnx {
namespace {

using One = Samples::One;

constexpr double kHidden = -9999;   // scores with so much less vanish: ONNX Runtime's optimizer writes -10000

bool all(const Samples& samples, const std::function<bool(const One&)>& holds) {
  return std::all_of(samples.all.begin(), samples.all.end(), holds);
}

bool is_uniform(const One& one) {
  return std::all_of(one.values.begin(), one.values.end(), [&](double v) { return v == one.values[0]; });
}

bool same_at_all_lengths(const Samples& samples) {
  const One& first = samples.all[0];
  if (all(samples, [&](const One& one) { return one.shape == first.shape && one.values == first.values; })) return true;
  return all(samples, [&](const One& one) {
    return one.values.empty() || (!first.values.empty() && is_uniform(one) && one.values[0] == first.values[0]);
  });
}

// The numbers from `begin` on along the last axis, of which there are `count`.
bool counts_from(const One& one, std::int64_t begin, std::int64_t count) {
  if (static_cast<std::int64_t>(one.values.size()) != count || one.shape.empty() || one.shape.back() != count) return false;
  for (std::size_t i = 0; i < one.values.size(); ++i)
    if (one.values[i] != static_cast<double>(begin + static_cast<std::int64_t>(i))) return false;
  return true;
}

// Whether a token at `place` sees `key`.
bool sees(std::int64_t place, std::int64_t key, std::int64_t window) { return key <= place && (window == 0 || place - key < window); }

// One sample as a mask: rows of tokens, columns of keys, the same for all heads. `seen` says it of a number.
class Mask {
 public:
  Mask(const One& one, const std::function<bool(double)>& seen)
      : one_(one), seen_(seen), rows_(one.lengths.tokens), keys_(one.keys) {}
  bool fits() const {
    const std::size_t rank = one_.shape.size();
    return (rank == 2 || rank == 4) && one_.shape[rank - 1] == keys_ && (one_.shape[rank - 2] == rows_ || one_.shape[rank - 2] == 1);
  }
  std::int64_t seen_in_last_row() const {
    std::int64_t count = 0;
    for (std::int64_t key = 0; key < keys_; ++key) count += at(one_.shape[one_.shape.size() - 2] - 1, key);
    return count;
  }
  bool hides() const {
    return !std::all_of(one_.values.begin(), one_.values.end(), [&](double v) { return seen_(v); });
  }
  bool is_causal(std::int64_t window) const {
    const std::int64_t rows = one_.shape[one_.shape.size() - 2], all = static_cast<std::int64_t>(one_.values.size()) / keys_;
    if (rows != rows_) return false;
    for (std::int64_t row = 0; row < all; ++row)
      for (std::int64_t key = 0; key < keys_; ++key)
        if (at(row, key) != sees(one_.lengths.before + row % rows, key, window)) return false;
    return true;
  }

 private:
  bool at(std::int64_t row, std::int64_t key) const { return seen_(one_.values[static_cast<std::size_t>(row * keys_ + key)]); }
  const One& one_;
  const std::function<bool(double)>& seen_;
  std::int64_t rows_, keys_;
};

// Nothing where these are no mask.
Found as_mask(const Samples& samples, Meaning meaning, const std::function<bool(double)>& seen) {
  const auto fits = [&](const One& one) { return Mask(one, seen).fits(); };
  if (!all(samples, fits)) return {};
  if (all(samples, [&](const One& one) { return !Mask(one, seen).hides(); })) return {.meaning = meaning, .hides = false};
  const One& longest = *std::max_element(samples.all.begin(), samples.all.end(),
                                         [](const One& a, const One& b) { return a.lengths.before < b.lengths.before; });
  const std::int64_t seen_keys = Mask(longest, seen).seen_in_last_row();
  const std::int64_t window = seen_keys == longest.lengths.all() ? 0 : seen_keys;
  if (!all(samples, [&](const One& one) { return Mask(one, seen).is_causal(window); })) return {};
  return {.meaning = meaning, .hides = true, .window = window};
}

bool is_addend(const Samples& samples) {
  return all(samples, [](const One& one) {
    return is_float(one.type) && std::all_of(one.values.begin(), one.values.end(), [](double v) { return v == 0 || v <= kHidden; });
  });
}

}  // namespace

Found understand(const Samples& samples) {
  if (samples.all.empty()) return {};
  const auto of = [&](auto&& function) { return all(samples, function); };
  if (same_at_all_lengths(samples)) return {.meaning = Meaning::any_length};
  if (of([](const One& one) { return counts_from(one, one.lengths.before, one.lengths.tokens); })) return {.meaning = Meaning::positions};
  if (of([](const One& one) { return counts_from(one, 0, one.keys); })) return {.meaning = Meaning::any_length};   // places of keys
  if (is_addend(samples)) return as_mask(samples, Meaning::visible, [](double v) { return v == 0; });
  if (!of([](const One& one) { return one.type == DType::boolean; })) return {};
  const Found found = as_mask(samples, Meaning::visible, [](double v) { return v != 0; });
  return found.meaning == Meaning::unknown ? as_mask(samples, Meaning::hidden, [](double v) { return v == 0; }) : found;
}

}  // namespace tenfold::decoders::onnx
