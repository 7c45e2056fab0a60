// MeanVarianceNormalization: zero mean and unit deviation over the given axes.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  for (std::int64_t axis : call.attributes().ints("axes")) call.axis(axis, call.rank(0));
  call.out(0, call.dtype(0), call.dims(0));
}

// For each element the group of elements it is normalized with: its index over the dims that are not reduced.
std::vector<std::int64_t> group_of_elements(const Shape& shape, const Ints& axes, std::int64_t& groups) {
  std::vector<bool> reduced(shape.size());
  for (std::int64_t axis : axes) reduced[static_cast<std::size_t>(ops::wrap_axis(axis, static_cast<int>(shape.size())))] = true;
  std::vector<std::int64_t> group(static_cast<std::size_t>(element_count(shape)));
  groups = 1;
  for (std::size_t back = shape.size(), inner = 1; back-- > 0; inner *= static_cast<std::size_t>(shape[back])) {
    if (reduced[back]) continue;
    for (std::size_t i = 0; i < group.size(); ++i) group[i] += static_cast<std::int64_t>(i / inner) % shape[back] * groups;
    groups *= shape[back];
  }
  return group;
}

template <class T>
void run(Call& call) {
  std::int64_t groups = 1;
  const std::vector<std::int64_t> group = group_of_elements(call.in[0].shape, call.attributes().ints("axes"), groups);
  std::vector<std::vector<double>> members(static_cast<std::size_t>(groups));
  const ops::RealIn<T> x(call.in[0]);
  const ops::RealOut<T> y(call.out[0]);
  for (std::size_t i = 0; i < group.size(); ++i) members[static_cast<std::size_t>(group[i])].push_back(x[static_cast<std::int64_t>(i)]);
  std::vector<ops::Moments> moments;
  for (const auto& m : members) moments.push_back(ops::moments(m.data(), static_cast<std::int64_t>(m.size())));
  for (std::size_t i = 0; i < group.size(); ++i) {
    const ops::Moments& m = moments[static_cast<std::size_t>(group[i])];
    const auto at = static_cast<std::int64_t>(i);
    y[at] = static_cast<T>((static_cast<double>(x[at]) - m.mean) / (std::sqrt(m.variance) + 1e-9));  // the standard's guard against zero
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_mean_variance_normalization() {
  return {.name = "MeanVarianceNormalization",
          .types = "T -> T; T: float",
          .attributes = {{"axes", Ints{0, 2, 3}}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 9,
          .cases = {"f32[2,3,4,5]", "f32[3,7] axes=[-1]", "f32[2,3,4] axes=[0,1]"}};
}

}  // namespace tenfold::ir
