// Ranges of shapes: the rule by which one plan serves many, and what fits into which.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tenfold/build.h"

namespace tenfold::background {

// An input whose shapes decide about the engine.
struct OpenInput {
  std::string name;
  Shape declared;  // -1: open
};

// Of each open input, in their order.
using Ranges = std::vector<ShapeRange>;
using Shapes = std::vector<Shape>;

// Throws invalid_argument, naming the input, where a shape does not fit what the model declares.
void check_shapes(std::span<const OpenInput> inputs, std::span<const Shape> shapes);
Ranges exactly(std::span<const Shape> shapes);
// From the power of two below each open extent to the one above: 37 lies in 32 to 64, 64 in 64 alone. Opt is what was
// seen.
Ranges around(std::span<const OpenInput> inputs, std::span<const Shape> shapes);
Ranges tuned_for(Ranges ranges, std::span<const Shape> opt);
bool fit(const Ranges& ranges, std::span<const Shape> shapes) noexcept;
bool exact(const Ranges& ranges) noexcept;
double width(const Ranges& ranges) noexcept;  // orders ranges that serve the same shapes: 0 is exact
OptimizationProfile profile_of(std::span<const OpenInput> inputs, const Ranges& ranges);
std::string text_of(std::span<const OpenInput> inputs, const Ranges& ranges);  // "x 1x32 to 1x64 (1x37)"

}  // namespace tenfold::background
