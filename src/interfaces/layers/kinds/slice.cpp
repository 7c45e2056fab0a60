// ISliceLayer: start, size and stride are options, or operands 1 to 3; `axes` (or operand 5) says of which dims, none: of all. Beyond the
// ends: refused, or (CLAMP, FILL, REFLECT, WRAP) continued.
#include <algorithm>
#include <limits>

#include "layers/known.h"

namespace tenfold::layers {
namespace {

struct Range {
  Shape start, size, stride;
};

// x with so much around it that the range lies inside, and the range moved accordingly.
NetworkTensor padded(const LayerCall& call, Range& range, const Shape& axes, const std::string& mode) {
  const Shape shape = call.known_shape(0, "a slice beyond the ends");
  Shape before(shape.size(), 0), after(shape.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<std::size_t>(axes[i]);
    const std::int64_t last = range.start[i] + (range.size[i] - 1) * range.stride[i];
    before[d] = std::max<std::int64_t>(0, -std::min(range.start[i], last));
    after[d] = std::max<std::int64_t>(0, std::max(range.start[i], last) - shape[d] + 1);
    range.start[i] += before[d];
  }
  before.insert(before.end(), after.begin(), after.end());
  return call.node("Pad", {call.in(0), call.integers(before), call.maybe(4)}, {{"mode", mode}});
}

NetworkTensor between(const LayerCall& call, NetworkTensor x, const Range& range, const Shape& axes) {
  Shape ends;
  for (std::size_t d = 0; d < range.start.size(); ++d) {
    std::int64_t end;
    if (__builtin_mul_overflow(range.size[d], range.stride[d], &end) || __builtin_add_overflow(range.start[d], end, &end))
      call.refuse("start, size and stride of dim " + std::to_string(d) + " reach past 64 bits");
    ends.push_back(end < 0 && range.stride[d] < 0 ? std::numeric_limits<std::int64_t>::min() : end);
  }
  return call.node("Slice", {x, call.integers(range.start), call.integers(ends), call.integers(axes), call.integers(range.stride)});
}

// Those that are meant, from the front; none: all.
Shape axes_of(const LayerCall& call) {
  const std::int64_t rank = call.rank(0);
  Shape axes = call.list("axes");
  if (call.has(5)) {
    const std::optional<Tensor> given = known_value(call, 5);
    if (!given) call.refuse(ErrorKind::unsupported, "the axes have to be known: a constant, or numbers");
    axes.clear();
    for (std::int64_t i = 0; i < given->size(); ++i) axes.push_back(given->as_int(i));
  }
  if (axes.empty())
    for (std::int64_t d = 0; d < rank; ++d) axes.push_back(d);
  for (std::int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      call.refuse("axis " + std::to_string(axis) + " is none of the " + std::to_string(rank) + " that there are");
    if (axis < 0) axis += rank;
  }
  return axes;
}

Network::Tensors make(const LayerCall& call) {
  static constexpr const char* kModes[] = {"", "wrap", "edge", "constant", "reflect"};
  const std::string mode = kModes[call.choice("mode", {"STRICT_BOUNDS", "WRAP", "CLAMP", "FILL", "REFLECT"})];
  Range range{call.list("start"), call.list("shape"), call.list("stride")};
  const Shape axes = axes_of(call);
  const std::size_t count = axes.size();
  const bool open = call.has(1) || call.has(2) || call.has(3);
  const auto option = [&](int operand, const Shape& numbers) {
    if (!call.has(operand) && numbers.size() != count)
      call.refuse("start, shape and stride need " + std::to_string(count) + " numbers, one has " + std::to_string(numbers.size()));
    return call.has(operand) ? call.as_i64(call.in(operand)) : call.integers(numbers);
  };
  const NetworkTensor start = option(1, range.start), size = option(2, range.size), stride = option(3, range.stride);
  if (!open) return {between(call, mode.empty() ? call.in(0) : padded(call, range, axes, mode), range, axes)};
  if (!mode.empty()) call.refuse(ErrorKind::unsupported, "a slice beyond the ends needs start, shape and stride as numbers");
  for (std::size_t d = 0; d < count; ++d)
    if (!call.has(3) && range.stride[d] < 0) call.refuse(ErrorKind::unsupported, "a negative stride needs start and shape as numbers");
  const NetworkTensor ends = call.node("Add", {start, call.node("Mul", {size, stride})});
  return {call.node("Slice", {call.in(0), start, ends, call.integers(axes), stride})};
}

}  // namespace

LayerKind layer_slice() {
  return {
      .name = "slice",
      .max_inputs = 6,
      .options = {{"start", Shape{}}, {"shape", Shape{}}, {"stride", Shape{}}, {"axes", Shape{}}, {"mode", std::string("STRICT_BOUNDS")}},
      .make = make};
}

}  // namespace tenfold::layers
