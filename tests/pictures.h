// The pictures in the comments that open passes' files, as graphs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::tests {

struct Picture { std::string before, after; };   // `after` empty: kept

// The pictures in the comment that opens a file. A block lasts to the next one, to an empty line or to the comment's end.
inline std::vector<Picture> pictures_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Picture> pictures;
  std::string* block = nullptr;
  for (std::string line; std::getline(file, line) && line.starts_with("//");) {
    std::string text = line.size() > 3 ? line.substr(3) : "";
    const auto opens = [&](std::string_view word) { return text.starts_with(word) && (text = text.substr(word.size()), true); };
    if (text.empty()) block = nullptr;
    else if (opens("before:") || opens("kept:")) block = &pictures.emplace_back().before;
    else if (opens("after:") && !pictures.empty()) block = &pictures.back().after;
    if (block) *block += text + "\n";
  }
  return pictures;
}

inline Tensor random_constant(DType dtype, const Shape& shape, std::uint64_t seed) {
  if (dtype == DType::f32) return ops::random_tensor(dtype, shape, seed, 0.01, 0.9);
  return ops::random_tensor(dtype, shape, seed);
}
inline ir::Graph parse_picture(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = random_constant});
}

// What the interpreter makes of a graph on random data, the same each time.
inline std::vector<Tensor> results(const ir::Graph& graph) {
  std::vector<ops::RuntimeValue> inputs;
  for (const ir::Value* v : graph.inputs) {
    Shape shape;
    for (const ir::Dim& d : v->dims()) shape.push_back(d.is_constant() ? d.constant() : 3);
    inputs.emplace_back(ops::random_tensor(v->dtype(), shape, 10 + inputs.size()));
  }
  std::vector<Tensor> tensors;
  for (const ops::RuntimeValue& v : ops::run_graph(graph, inputs)) tensors.push_back(std::get<Tensor>(v));
  return tensors;
}

// Passes that drop a rounding may move a result by more than a change of the order of operations does.
inline void expect_same_meaning(const std::vector<Tensor>& expected, const std::vector<Tensor>& got, double tolerance) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t o = 0; o < expected.size(); ++o) {
    ASSERT_EQ(expected[o].shape(), got[o].shape()) << "output " << o;
    ASSERT_EQ(expected[o].dtype(), got[o].dtype()) << "output " << o;
    const double own = expected[o].dtype() == DType::bf16 ? 8e-3 : expected[o].dtype() == DType::f16 ? 1e-3 : 0;   // rounding
    const double allowed = std::max(tolerance, own);
    double largest = 1;
    for (std::int64_t i = 0; i < expected[o].size(); ++i)
      if (std::isfinite(expected[o].as_double(i))) largest = std::max(largest, std::abs(expected[o].as_double(i)));
    for (std::int64_t i = 0; i < expected[o].size(); ++i) {
      const double w = expected[o].as_double(i), g = got[o].as_double(i);
      if (w == g || (std::isnan(w) && std::isnan(g))) continue;
      ASSERT_NEAR(w, g, allowed * largest) << "output " << o << ", element " << i;
    }
  }
}

}  // namespace tenfold::tests
