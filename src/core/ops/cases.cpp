// Reading a test case and making its random data.
#include "ops/cases.h"

#include <random>

#include "base/types/element.h"
#include "ir/scan.h"

namespace tenfold::ops {
namespace {

std::uint64_t mix(std::uint64_t x) {   // splitmix64: the same numbers with every standard library
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

std::pair<double, double> default_range(DType dtype) {
  switch (dtype) {
    case DType::boolean: return {0, 1};
    case DType::u8: case DType::u16: case DType::u32: case DType::u64: case DType::u4: return {0, 15};
    case DType::u2: return {0, 3};
    case DType::i2: return {-2, 1};
    default: return is_integer(dtype) ? std::pair{-8.0, 7.0} : std::pair{-1.0, 1.0};
  }
}

CaseOperand parse_operand(ir::Scanner& in, std::uint64_t seed) {
  CaseOperand operand;
  if (in.take('_')) {
    operand.missing = true;
    return operand;
  }
  const ir::ValueType type = ir::parse_type(in);
  const Shape shape = ir::constants(type.tensor.dims);
  auto [low, high] = default_range(type.tensor.dtype);
  if (in.peek() == '{') {
    operand.data = ir::parse_literal_values(in, type.tensor.dtype, shape);
    operand.constant = true;
    return operand;
  }
  if (in.take('(')) {
    low = in.to_double(in.number());
    in.expect(',');
    high = in.to_double(in.number());
    in.expect(')');
  }
  operand.constant = in.take('!');
  operand.data = random_tensor(type.tensor.dtype, shape, seed, low, high);
  return operand;
}

}  // namespace

Tensor random_tensor(DType dtype, const Shape& shape, std::uint64_t seed, double low, double high) {
  if (dtype == DType::string) {
    std::vector<std::string> texts(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (std::uint64_t bits = mix(seed * 0x100000001b3ull + i); bits % 4 != 0; bits /= 8) texts[i] += static_cast<char>('a' + bits % 3);
    return Tensor::strings(shape, std::move(texts));
  }
  Tensor t(dtype, shape);
  void* data = t.mutable_raw();
  const bool whole = !is_float(dtype);
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const std::uint64_t bits = mix(seed * 0x100000001b3ull + static_cast<std::uint64_t>(i));
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
    if (whole) store_int(dtype, data, i, static_cast<std::int64_t>(std::floor(low + unit * (high - low + 1))));
    else store_double(dtype, data, i, low + unit * (high - low));
  }
  return t;
}

Tensor random_tensor(DType dtype, const Shape& shape, std::uint64_t seed) {
  const auto [low, high] = default_range(dtype);
  return random_tensor(dtype, shape, seed, low, high);
}

Case parse_case(const ir::OpDef& op, std::string_view text, std::uint64_t seed) {
  try {
    Case result;
    result.outputs = std::max(1, op.min_outputs);
    ir::Scanner in(text);
    while (in.peek() != '\0') {
      ir::Scanner ahead = in;
      const std::string word = ahead.until("=[ ");
      if (ahead.peek() == '=') {
        in = ahead;
        in.expect('=');
        if (word == "numerics" && in.peek() == '{') {
          result.numerics = ir::parse_numerics(in, result.numerics);
          continue;
        }
        ir::Attribute value = ir::parse_attribute(in);
        if (word == "outputs") result.outputs = static_cast<int>(std::get<std::int64_t>(value));
        else result.attributes.set(word, std::move(value));
      } else {
        result.operands.push_back(parse_operand(in, mix(seed) + result.operands.size()));
      }
    }
    return result;
  } catch (Error& e) {
    throw e.within("case '" + std::string(text) + "' of " + op.name);
  }
}

ir::Graph case_graph(const ir::Registry& registry, const ir::OpDef& op, const Case& c) {
  ir::Graph graph(registry);
  std::vector<ir::Value*> operands;
  int number = 0;
  for (const CaseOperand& o : c.operands) {
    const std::string name = "x" + std::to_string(number++);
    if (o.missing) operands.push_back(nullptr);
    else if (o.constant) operands.push_back(graph.add_constant(o.data, name, true));
    else operands.push_back(graph.add_input(name, {.tensor = {o.data.dtype(), ir::to_dims(o.data.shape())}}));
  }
  ir::Node one;
  one.def = &op, one.attributes = c.attributes, one.numerics = c.numerics, one.inputs = std::move(operands);
  ir::Node* node = graph.add(std::move(one), c.outputs);
  for (int i = 0; i < c.outputs; ++i) {
    node->outputs[static_cast<std::size_t>(i)]->name = "y" + std::to_string(i);
    graph.outputs.push_back(node->outputs[static_cast<std::size_t>(i)]);
  }
  return graph;
}

}  // namespace tenfold::ops
