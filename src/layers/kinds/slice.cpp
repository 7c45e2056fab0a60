// ISliceLayer: start, size and stride are options, or operands 1 to 3. Beyond the ends: refused, or (CLAMP, FILL, REFLECT, WRAP) continued.
#include <algorithm>
#include <limits>

#include "layers/layer.h"

namespace tenfold::layers {
namespace {

struct Range {
  Shape start, size, stride;
};

// x with so much around it that the range lies inside, and the range moved accordingly.
NetworkTensor padded(const LayerCall& call, Range& range, const std::string& mode) {
  const Shape shape = call.known_shape(0, "a slice beyond the ends");
  Shape before, after;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t last = range.start[d] + (range.size[d] - 1) * range.stride[d];
    before.push_back(std::max<std::int64_t>(0, -std::min(range.start[d], last)));
    after.push_back(std::max<std::int64_t>(0, std::max(range.start[d], last) - shape[d] + 1));
    range.start[d] += before.back();
  }
  before.insert(before.end(), after.begin(), after.end());
  return call.node("Pad", {call.in(0), call.integers(before), call.maybe(4)}, {{"mode", mode}});
}

NetworkTensor between(const LayerCall& call, NetworkTensor x, const Range& range) {
  Shape ends, axes;
  for (std::size_t d = 0; d < range.start.size(); ++d) {
    const std::int64_t end = range.start[d] + range.size[d] * range.stride[d];
    ends.push_back(end < 0 && range.stride[d] < 0 ? std::numeric_limits<std::int64_t>::min() : end);
    axes.push_back(static_cast<std::int64_t>(d));
  }
  return call.node("Slice", {x, call.integers(range.start), call.integers(ends), call.integers(axes), call.integers(range.stride)});
}

Network::Tensors make(const LayerCall& call) {
  static constexpr const char* kModes[] = {"", "wrap", "edge", "constant", "reflect"};
  const std::string mode = kModes[call.choice("mode", {"STRICT_BOUNDS", "WRAP", "CLAMP", "FILL", "REFLECT"})];
  Range range{call.list("start"), call.list("shape"), call.list("stride")};
  const auto rank = static_cast<std::size_t>(call.rank(0));
  const bool open = call.has(1) || call.has(2) || call.has(3);
  const auto option = [&](int operand, const Shape& numbers) {
    if (!call.has(operand) && numbers.size() != rank)
      call.refuse("start, shape and stride need " + std::to_string(rank) + " numbers, one has " + std::to_string(numbers.size()));
    return call.has(operand) ? call.as_i64(call.in(operand)) : call.integers(numbers);
  };
  const NetworkTensor start = option(1, range.start), size = option(2, range.size), stride = option(3, range.stride);
  if (!open) return {between(call, mode.empty() ? call.in(0) : padded(call, range, mode), range)};
  if (!mode.empty()) call.refuse(ErrorKind::unsupported, "a slice beyond the ends needs start, shape and stride as numbers");
  Shape axes;
  for (std::size_t d = 0; d < rank; ++d) {
    axes.push_back(static_cast<std::int64_t>(d));
    if (!call.has(3) && range.stride[d] < 0) call.refuse(ErrorKind::unsupported, "a negative stride needs start and shape as numbers");
  }
  const NetworkTensor ends = call.node("Add", {start, call.node("Mul", {size, stride})});
  return {call.node("Slice", {call.in(0), start, ends, call.integers(axes), stride})};
}

}  // namespace

LayerKind layer_slice() {
  return {.name = "slice",
          .max_inputs = 5,
          .options = {{"start", Shape{}}, {"shape", Shape{}}, {"stride", Shape{}}, {"mode", std::string("STRICT_BOUNDS")}},
          .make = make};
}

}  // namespace tenfold::layers
