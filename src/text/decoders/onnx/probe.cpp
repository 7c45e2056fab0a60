#include "text/decoders/onnx/probe.h"

#include <algorithm>

#include "tenfold/engine.h"
#include "text/decoders/onnx/cut_data.h"
#include "text/fail.h"

namespace tenfold::decoders::onnx {
namespace {

Tensor filled(DType type, const Shape& shape, std::int64_t first, std::int64_t step) {
  Tensor tensor(type, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::int64_t value = first + i * step;
    if (type == DType::i64) tensor.mutable_data<std::int64_t>()[i] = value;
    if (type == DType::i32) tensor.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    if (type == DType::f32) tensor.mutable_data<float>()[i] = static_cast<float>(value);
    if (type == DType::boolean) tensor.mutable_data<bool>()[i] = value != 0;
  }
  return tensor;
}

// The past of one sequence; extents that the file fixes stay.
Tensor past_of(const Network& net, NetworkTensor value, const Cache& cache, const Lengths& at) {
  const std::vector<NetworkDim> dims = net.dims(value);
  const auto extent = [&](std::size_t axis, std::int64_t otherwise) { return dims[axis].extent >= 0 ? dims[axis].extent : otherwise; };
  return Tensor(net.dtype(value), {extent(0, 1), cache.heads, extent(2, at.before), cache.size});
}

// Another input of it.
Tensor input_of(const Network& net, NetworkTensor value, Role role, const Lengths& at) {
  const std::vector<NetworkDim> dims = net.dims(value);
  const auto shape = [&](std::initializer_list<std::int64_t> wanted) {
    Shape shape(wanted);
    shape.resize(dims.size(), 1);
    return shape;
  };
  const DType type = net.dtype(value);
  const std::int64_t all = at.all();
  switch (role) {
    case Role::ids: return filled(type, shape({1, at.tokens}), 0, 0);
    case Role::mask: return filled(type, shape({1, all}), 1, 0);
    case Role::positions: return filled(type, shape({1, at.tokens}), at.before, 1);
    case Role::places: return filled(type, shape({at.tokens}), at.before, 1);
    case Role::last_places: return filled(type, shape({1}), all - 1, 0);
    case Role::longest: return filled(type, shape({}), all, 0);
    case Role::before: return filled(type, shape({}), at.before, 0);
  }
  return Tensor(type, {});
}

// The file's graph with nothing but these values as outputs "0", "1", ...
class Probe {
 public:
  Probe(const std::string& file, const BuildConfig& given) : net_(Network::read(file, given)), bindings_(find_bindings(net_)) {
    const Dependence dependence(net_, bindings_);
    std::vector<NetworkTensor> values;
    for (const Border& one : dependence.borders()) values.push_back(one.value);
    for (const NetworkTensor one : dependence.rows()) values.push_back(one);
    for (const Cache& one : bindings_.caches)
      if (one.places.defined()) values.push_back(net_.add_node("Identity", {one.places})[0]);   // it may be a constant
    for (const NetworkTensor output : net_.outputs()) net_.remove_output(net_.name(output));
    for (std::size_t i = 0; i < values.size(); ++i) net_.mark_output(values[i], "value " + std::to_string(i));
    count_ = values.size();
    cut_data(net_, bindings_);
    net_.remove_unused();
    for (const NetworkTensor input : net_.inputs())
      if (net_.users(input).empty()) net_.remove_input(net_.name(input));
    config_.device = "cpu", config_.optimization_level = 0, config_.threads = 1, config_.plugins = given.plugins;
    config_.runtime = given.runtime;
  }
  std::size_t count() const { return count_; }

  void run(const Lengths& at, std::vector<Samples>& to) const {
    OptimizationProfile profile;
    std::vector<Tensor> inputs;
    for (const NetworkTensor value : net_.inputs()) {
      inputs.push_back(input_for(value, at));
      profile[net_.name(value)] = {inputs.back().shape(), inputs.back().shape(), inputs.back().shape()};
    }
    BuildConfig config = config_;
    config.profiles = {profile};
    const Engine engine = build(net_, config);
    const std::vector<Tensor> results = engine.create_context()->run(inputs);
    const std::int64_t keys = bindings_.caches.front().length;
    for (std::size_t i = 0; i < count_; ++i) {
      Samples::One one{at, keys < 0 ? at.all() : keys, results[i].dtype(), results[i].shape(), {}};
      for (std::int64_t k = 0; k < results[i].size(); ++k) one.values.push_back(results[i].as_double(k));
      to[i].all.push_back(std::move(one));
    }
  }

 private:
  Tensor input_for(NetworkTensor value, const Lengths& at) const {
    const std::string name = net_.name(value);
    for (const Told& one : bindings_.told)
      if (one.name == name) return input_of(net_, value, one.role, at);
    for (const Cache& one : bindings_.caches)
      if (one.past_name == name) return past_of(net_, value, one, at);
    tokenizing::fail(ErrorKind::unsupported, "the input '" + name + "' " + net_.describe(value) +
                                                 " decides masks or positions, and is not known");
  }
  Network net_;
  Bindings bindings_;
  std::size_t count_ = 0;
  BuildConfig config_;
};

}  // namespace

std::vector<Lengths> probed_lengths(std::int64_t capacity) {
  if (capacity < 8) return {{0, capacity}, {capacity - 1, 1}};
  return {{5, 3}, {2, 1}, {0, 4}, {capacity - 1, 1}};
}

std::vector<Samples> probe(const std::string& file, const BuildConfig& config, const std::vector<Lengths>& lengths) {
  const Probe one(file, config);
  std::vector<Samples> all(one.count());
  for (const Lengths& at : lengths)
    if (one.count() > 0) one.run(at, all);
  return all;
}

}  // namespace tenfold::decoders::onnx
