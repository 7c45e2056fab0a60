// Pools whose image and result are slices of wider channels-last tensors, as a concatenation in place leaves them.
#include "backends/tactic_for_tests.h"

namespace tenfold::backends {
Tactic cpu_pool_windows();
namespace {

using namespace testing;

// n, c, y, x of channels-last memory in which a position is `step` elements.
std::vector<std::int64_t> strides_of(const Shape& dims, std::int64_t step) { return {dims[2] * dims[3] * step, 1, dims[3] * step, step}; }

void check(const char* name, const char* text) {
  SCOPED_TRACE(cat(name, " ", text));
  const Tactic tactic = cpu_pool_windows();
  const ir::OpDef& op = ir::Registry::builtin().get(name);
  const ops::Case c = ops::parse_case(op, text);
  const ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, c);
  const Tensor& x = c.operands[0].data;
  const Tensor expected = std::get<Tensor>(ops::run_node(*graph.nodes().front(), {ops::RuntimeValue{x}})[0]);
  TacticRun run(tactic, graph, kAvx2);
  constexpr std::int64_t kMore = 5;   // channels of the wider tensors behind those of the pool
  const std::int64_t channels = x.shape()[1], step = channels + kMore, bytes = bits(x.dtype()) / 8;
  const auto place = [&](OperandDesc& o, const Shape& dims) {
    o.layout = kChannelsLast, o.dense = false, o.strides = ir::to_dims(strides_of(dims, step));
  };
  place(run.problem.in[0], x.shape()), place(run.problem.out[0], expected.shape());
  ASSERT_TRUE(tactic.supports(run.problem).yes) << tactic.supports(run.problem).reason;
  const auto from = strides_of(x.shape(), step), to = strides_of(expected.shape(), step);
  std::vector<char> image(static_cast<std::size_t>(x.shape()[0] * from[0] * bytes), char(0x7f)),
      result(static_cast<std::size_t>(expected.shape()[0] * to[0] * bytes), char(0x55));
  const auto each = [&](const Tensor& t, const std::vector<std::int64_t>& strides, auto&& f) {
    const Shape& d = t.shape();
    for (std::int64_t i = 0; i < t.size(); ++i) {
      const std::int64_t at = i / (d[1] * d[2] * d[3]) * strides[0] + i / (d[2] * d[3]) % d[1] + i / d[3] % d[2] * strides[2] +
                              i % d[3] * strides[3];
      f(static_cast<const char*>(t.raw()) + i * bytes, at * bytes);
    }
  };
  each(x, from, [&](const char* element, std::int64_t at) { std::memcpy(image.data() + at, element, static_cast<std::size_t>(bytes)); });
  const Bound in{image.data(), x.shape().data(), from.data(), 4}, out{result.data(), expected.shape().data(), to.data(), 4};
  Backwards backwards;
  ASSERT_EQ(tactic.run(opened(tactic, run.problem, {0}).get(), {{&in, 1}, {&out, 1}, nullptr, &backwards}), Status::ok);
  std::size_t touched = 0;
  for (char byte : result) touched += byte != 0x55;
  EXPECT_LE(touched, static_cast<std::size_t>(expected.bytes())) << "wrote between the positions";
  each(expected, to, [&](const char* element, std::int64_t at) {
    const auto value = [&](const char* p) {
      Tensor one(x.dtype(), {1});
      std::memcpy(one.mutable_raw(), p, static_cast<std::size_t>(bytes));
      return one.as_double(0);
    };
    ASSERT_NEAR(value(result.data() + at), value(element), x.dtype() == DType::f32 ? 1e-5 : 1e-2);
  });
}

TEST(PoolsOfSlices, ReadAndWriteInPlace) {
  check("MaxPool", "f32[2,19,6,7] kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2]");
  check("MaxPool", "bf16[2,35,6,7] kernel_shape=[2,2] strides=[2,2]");
  check("AveragePool", "bf16[1,35,6,7] kernel_shape=[3,3] pads=[1,1,1,1]");
  check("MaxPool", "u8[1,35,6,7] kernel_shape=[3,3] pads=[1,1,1,1]");
}

}  // namespace
}  // namespace tenfold::backends
