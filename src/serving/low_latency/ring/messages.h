// How the inputs and outputs of an engine lie in one piece of memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/bindings.h"
#include "tenfold/engine.h"

namespace tenfold::low_latency {

std::int64_t now_ns() noexcept;   // of std::chrono::steady_clock

struct MessageTensor {   // of a message
  int binding = 0;
  std::int64_t offset = 0, bytes = 0, elements = 0;
  DType dtype = DType::f32;
};
// A message holds all inputs, or all outputs, each at a multiple of 64 bytes.
struct MessageLayout {
  std::vector<BindingInfo> bindings;
  std::vector<MessageTensor> inputs, outputs;
  std::int64_t input_bytes = 0, output_bytes = 0;
};
// Throws invalid_argument for dynamic shapes and what is no tensor of numbers.
MessageLayout layout_of(const Engine& engine);
std::int64_t offset_of(const MessageLayout& layout, int binding);  // of its part; throws invalid_argument
// Places for parts of bindings of fixed shapes, inputs and outputs each by themselves. Throws invalid_argument.
MessageLayout layout_of(std::vector<BindingInfo> bindings);
// Why messages of one are none for the other; empty: they fit.
std::string difference(const MessageLayout& a, const MessageLayout& b);

bool all_finite(const std::vector<MessageTensor>& parts, const std::byte* message) noexcept;
// Values between -1 and 1; integers are 0 or 1.
std::vector<std::byte> random_inputs(const MessageLayout& layout, unsigned seed);
// The largest difference of two outputs, beside the largest value of the tensor in `truth`. Infinite where one is finite
// and the other is not.
double distance(const MessageLayout& layout, const std::byte* outputs, const std::byte* truth);

}  // namespace tenfold::low_latency
