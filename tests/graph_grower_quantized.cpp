// Growing a graph: layers between QuantizeLinear and DequantizeLinear, behind the input. All scales are powers of two and sums fit 24
// bits, so that float32 computes them exactly in any order and no rounding may go another way.
#include <cmath>

#include "base/check.h"
#include "graph_grower.h"

namespace tenfold {

// At least 2^-6, which six decimals hold.
std::string Grower::power(int min, int max) { return std::to_string(std::ldexp(1.0, min + below(max - min + 1))); }

// A quantized and dequantized value; on a grid of its own.
std::string Grower::on_grid(const std::string& name) {
  const bool is_signed = below(2);
  const std::string scale = cat("c", count_++), zero = cat("c", count_++);
  lists_ += cat("  ", scale, " = f32[]{", power(-6, -3), "}\n  ", zero, " = ", is_signed ? "i8" : "u8", "[]{",
                is_signed ? below(3) * 20 - 20 : below(3) * 64, "}\n");
  const std::string q = node(cat("QuantizeLinear(", name, ", ", scale, ", ", zero, ")"));
  return node(cat("DequantizeLinear(", q, ", ", scale, ", ", zero, ")"));
}

// Dequantized weights with a scale for each index of `axis`, or one.
std::string Grower::weights(const Shape& shape, int axis) {
  const std::string name = cat("w", count_++), scale = cat("c", count_++);
  header_ += ", " + name + " i8[";
  for (std::size_t i = 0; i < shape.size(); ++i) header_ += cat(i ? "," : "", shape[i]);
  header_ += "]!";
  const std::int64_t scales = shape[static_cast<std::size_t>(axis)];
  const bool each = scales > 1 && below(3);
  lists_ += cat("  ", scale, " = f32[", each ? std::to_string(scales) : "", "]{");
  for (std::int64_t i = 0; i < (each ? scales : 1); ++i) lists_ += cat(i ? "," : "", power(-6, -4));
  lists_ += "}\n";
  return node(cat("DequantizeLinear(", name, ", ", scale, ") axis=", axis));
}

// From a value on a grid to another one, and its shape.
void Grower::quantized_layer(std::string& name, Shape& shape) {
  const std::string before = name;
  const Shape was = shape;
  if (shape.size() == 3) {
    const std::int64_t kernel = pick({1, 3}), stride = pick({1, 1, 2}), pad = kernel / 2, group = below(3) ? 1 : shape[0];
    const std::int64_t filters = group > 1 ? shape[0] : pick({1, 3, 8, 33, shape[0]});
    const std::string w = weights({filters, shape[0] / group, kernel, kernel}, 0);
    name = node(cat("Conv(", name, ", ", w, ") kernel_shape=[", kernel, ",", kernel, "] pads=[", pad, ",", pad, ",", pad, ",", pad,
                    "] strides=[", stride, ",", stride, "] group=", group));
    shape = {filters, (shape[1] + 2 * pad - kernel) / stride + 1, (shape[2] + 2 * pad - kernel) / stride + 1};
  } else {
    const std::int64_t columns = pick({1, 5, 32, 40, shape.back()});
    const std::string w = weights({shape.back(), columns}, 1);
    name = node(cat("MatMul(", name, ", ", w, ")"));
    shape.back() = columns;
  }
  if (below(2)) name = node(cat("Add(", name, ", ", number(0.25 * below(9) - 1), ")"));
  if (below(2)) name = on_grid(name);
  if (shape == was && below(2)) name = node(cat("Add(", name, ", ", before, ")"));
  if (below(2)) name = node(cat("Relu(", name, ")"));
  name = on_grid(name);
  if (shape.size() == 3 && below(4) == 0) {
    name = on_grid(node(cat("MaxPool(", name, ") kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2]")));
    shape = {shape[0], (shape[1] - 1) / 2 + 1, (shape[2] - 1) / 2 + 1};
  }
}

void Grower::quantized() {
  std::string name = on_grid("x");
  Shape shape = values_[0].shape;
  for (int layers = 1 + below(3); layers > 0; --layers) quantized_layer(name, shape);
  add("Neg(" + name + ")", shape);   // a product of two activations would do without the rounding before it (remove_qdq)
}

}  // namespace tenfold
