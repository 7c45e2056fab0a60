// Layouts and comparisons of messages.
#include "low_latency/ring/messages.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/checked.h"
#include "base/types/element.h"

namespace tenfold::low_latency {
namespace {

constexpr std::int64_t kAlignment = 64;

// All bits of the exponent are set in NaNs and infinities alone: there its lowest bit, added, carries into the sign's place.
// Lanes are apart so that compilers make vectors of them: long windows are read for every answer.
template <class Bits>
bool finite(const std::byte* at, std::int64_t count, Bits exponent) noexcept {
  constexpr std::size_t kLanes = 64 / sizeof(Bits);
  const auto lowest = static_cast<Bits>(exponent & (~exponent + 1));
  const auto size = static_cast<std::size_t>(count);
  Bits found[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    Bits bits[kLanes];
    std::memcpy(bits, at + i * sizeof(Bits), sizeof bits);
    for (std::size_t k = 0; k < kLanes; ++k) found[k] = static_cast<Bits>(found[k] | ((bits[k] & exponent) + lowest));
  }
  for (; i < size; ++i) {
    Bits bits;
    std::memcpy(&bits, at + i * sizeof bits, sizeof bits);
    found[0] = static_cast<Bits>(found[0] | ((bits & exponent) + lowest));
  }
  Bits any = 0;
  for (const Bits f : found) any = static_cast<Bits>(any | f);
  return any >> (8 * sizeof(Bits) - 1) == 0;
}

MessageTensor part_of(const BindingInfo& b, int binding, std::int64_t& end) {
  for (const std::int64_t extent : b.shape)
    require(extent >= 0, ErrorKind::invalid_argument, b.is_input ? "input" : "output", " '", b.name, "' has the shape ", text(b.shape),
            ", where -1 is open: low latency needs fixed shapes, so build the engine with one shape for each input");
  require(bits(b.dtype) > 0, ErrorKind::invalid_argument, b.is_input ? "input" : "output", " '", b.name, "' is of ", name(b.dtype),
          ": low latency takes and gives tensors of numbers alone");
  MessageTensor part{binding, round_up(end, kAlignment), 0, element_count(b.shape), b.dtype};
  part.bytes = byte_size(b.dtype, part.elements);
  end = checked_add(part.offset, part.bytes);
  return part;
}

}  // namespace

std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

MessageLayout layout_of(std::vector<BindingInfo> bindings) {
  MessageLayout layout;
  layout.bindings = std::move(bindings);
  for (std::size_t i = 0; i < layout.bindings.size(); ++i) {
    const BindingInfo& b = layout.bindings[i];
    const int binding = static_cast<int>(i);
    if (b.is_input) layout.inputs.push_back(part_of(b, binding, layout.input_bytes));
    else layout.outputs.push_back(part_of(b, binding, layout.output_bytes));
  }
  return layout;
}

MessageLayout layout_of(const Engine& engine) {
  for (std::size_t i = 0; i < engine.bindings().size(); ++i) {
    const BindingInfo& b = engine.bindings()[i];
    const int binding = static_cast<int>(i);
    require(!binds_values(engine, binding), ErrorKind::invalid_argument, b.is_input ? "input" : "output", " '", b.name, "' is ",
            binding_type(engine, binding), "; low latency takes and gives tensors of numbers alone");
  }
  return layout_of(engine.bindings());
}

std::int64_t offset_of(const MessageLayout& layout, int binding) {
  for (const auto* parts : {&layout.inputs, &layout.outputs})
    for (const MessageTensor& p : *parts)
      if (p.binding == binding) return p.offset;
  fail(ErrorKind::invalid_argument, cat("there is no binding ", binding));
}

std::string difference(const MessageLayout& a, const MessageLayout& b) {
  if (a.bindings.size() != b.bindings.size()) return cat(a.bindings.size(), " inputs and outputs against ", b.bindings.size());
  for (std::size_t i = 0; i < a.bindings.size(); ++i) {
    const BindingInfo &x = a.bindings[i], &y = b.bindings[i];
    const auto reported = [](const BindingInfo& info) {
      return cat(info.is_input ? "input '" : "output '", info.name, "' ", name(info.dtype), "[", text(info.shape), "]");
    };
    if (x.name != y.name || x.dtype != y.dtype || x.shape != y.shape || x.is_input != y.is_input)
      return cat(reported(x), " against ", reported(y));
  }
  return {};
}

bool all_finite(const std::vector<MessageTensor>& parts, const std::byte* message) noexcept {
  for (const MessageTensor& p : parts) {
    const std::byte* const at = message + p.offset;
    const bool good = p.dtype == DType::f32    ? finite<std::uint32_t>(at, p.elements, 0x7f800000u)
                      : p.dtype == DType::f16  ? finite<std::uint16_t>(at, p.elements, 0x7c00)
                      : p.dtype == DType::bf16 ? finite<std::uint16_t>(at, p.elements, 0x7f80)
                      : p.dtype == DType::f64  ? finite<std::uint64_t>(at, p.elements, 0x7ff0000000000000u)
                                               : true;
    if (!good) return false;
  }
  return true;
}

std::vector<std::byte> random_inputs(const MessageLayout& layout, unsigned seed) {
  std::vector<std::byte> message(static_cast<std::size_t>(layout.input_bytes));
  for (const MessageTensor& p : layout.inputs)
    for (std::int64_t i = 0; i < p.elements; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const double value = is_float(p.dtype) ? (seed >> 8) / double(1 << 23) - 1 : seed >> 31;
      store_double(p.dtype, message.data() + p.offset, i, value);
    }
  return message;
}

double distance(const MessageLayout& layout, const std::byte* outputs, const std::byte* truth) {
  double worst = 0;
  for (const MessageTensor& p : layout.outputs) {
    double largest = 0, off = 0;
    for (std::int64_t i = 0; i < p.elements; ++i) {
      const double a = load_double(p.dtype, outputs + p.offset, i), b = load_double(p.dtype, truth + p.offset, i);
      if (std::isfinite(b)) largest = std::max(largest, std::abs(b));
      if (std::isfinite(a) && std::isfinite(b)) off = std::max(off, std::abs(a - b));
      else if (std::isfinite(a) != std::isfinite(b)) off = std::numeric_limits<double>::infinity();
    }
    worst = std::max(worst, off == 0 ? 0 : off / std::max(largest, 1e-30));
  }
  return worst;
}

}  // namespace tenfold::low_latency
