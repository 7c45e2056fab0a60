// The pictures in the comments that open passes' files, as graphs.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ir/text.h"
#include "ops/cases.h"

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

}  // namespace tenfold::tests
