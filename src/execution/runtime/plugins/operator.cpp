// From a plug-in's table to an OpDef: shape inference and the plain kernel.
#include "runtime/plugins/operator.h"

#include "ops/elements.h"
#include "ops/onnx_dtype.h"
#include "runtime/plugins/views.h"

namespace tenfold::runtime {
namespace {

constexpr std::int32_t kMaxRank = 64;

void check_version(const ir::OpDef& def, const ir::Attributes& attributes) {
  const std::int64_t here = def.attributes.integer(kPluginVersion), there = attributes.integer(kPluginVersion, here);
  require(here == there, ErrorKind::plan_refused, "plug-in '", def.name, "' is version ", here, " here, version ",
          there, " is asked for: build the plan again");
}

// What set_output() is given, as result types.
struct Results {
  ir::InferCall& call;
  const PluginTable& plugin;
  std::vector<char> given;
  std::map<std::string, ir::Dim> sizes;  // that only the run knows, by name
  std::string error;

  // "NAME <= BOUND", or an extent.
  ir::Dim parse(std::string_view text) {
    const std::size_t at = text.find("<=");
    if (at == std::string_view::npos) return ir::Dim::parse(text);
    std::string name(text.substr(0, at));
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    require(!name.empty() &&
                std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; }),
            ErrorKind::invalid_argument, "'", name, "' is no name for a size");
    const ir::Dim bound = ir::Dim::parse(text.substr(at + 2));
    plugin.finds_sizes = true;
    const auto [it, fresh] = sizes.try_emplace(name);
    if (fresh) it->second = call.new_symbol(name, 0, bound);
    return it->second;
  }
  void set(std::int32_t output, std::int32_t dtype, std::int32_t rank, const char* const* dims) {
    require(output >= 0 && output < call.outputs(), ErrorKind::invalid_argument, "it gives a type to result ", output,
            " of ", call.outputs());
    require(!given[static_cast<std::size_t>(output)], ErrorKind::invalid_argument, "it gives result ", output,
            " two types");
    require(rank >= 0 && rank <= kMaxRank && (rank == 0 || dims), ErrorKind::invalid_argument, "it gives result ",
            output, " rank ", rank);
    const DType type = ops::dtype_from_onnx(dtype);
    require(type != DType::string, ErrorKind::unsupported, "it gives result ", output, " strings");
    ir::Dims extents;
    for (std::int32_t d = 0; d < rank; ++d) {
      require(dims[d] != nullptr, ErrorKind::invalid_argument, "extent ", d, " of result ", output, " is null");
      extents.push_back(parse(dims[d]));
      require(extents.back().bounds(call.graph().box()).upper >= 0, ErrorKind::invalid_argument, "extent ", d,
              " of result ", output, " is '", dims[d], "', which is negative");
    }
    call.out(output, type, std::move(extents));
    given[static_cast<std::size_t>(output)] = 1;
  }
};

std::int32_t set_output(tenfold_plugin_infer* call, std::int32_t output, std::int32_t dtype, std::int32_t rank,
                        const char* const* dims) noexcept {
  Results& results = *static_cast<Results*>(call->host);
  try {
    results.set(output, dtype, rank, dims);
    return 0;
  } catch (const std::exception& e) {
    if (results.error.empty()) results.error = e.what();
    return static_cast<std::int32_t>(ErrorKind::invalid_argument) + 1;
  }
}

void infer(ir::InferCall& call) {
  const ir::OpDef& def = *call.node().def;
  const PluginTable& plugin = plugin_of(def);
  check_version(def, call.attributes());
  if (plugin.table.expand) return infer_plugin_graph(call);
  std::vector<PluginOperandType> types;
  for (int i = 0; i < call.inputs(); ++i)
    types.push_back(call.has(i) ? PluginOperandType{.dtype = call.dtype(i),
                                                    .dims = call.dims(i),
                                                    .contents = call.contents(i),
                                                    .constant = call.node().in(i)->is_constant()}
                                : PluginOperandType{.missing = true});
  const AttributeViews attributes(call.attributes(), plugin.attribute_names);
  const TypeViews in(types, call.graph().box());
  Results results{call, plugin, std::vector<char>(static_cast<std::size_t>(call.outputs())), {}, {}};
  PluginWhy why;
  tenfold_plugin_infer request{sizeof request, attributes.data(), in.data(), attributes.count(),
                             in.count(),   call.outputs(),    0,         set_output,
                             why.text,     sizeof why.text,   &results};
  const std::int32_t code = plugin.table.infer(plugin.table.self, &request);
  require(results.error.empty(), ErrorKind::invalid_argument, plugin_text(plugin), ": infer(): ", results.error);
  expect_done(code, plugin, "infer", why.message());
  for (std::size_t i = 0; i < results.given.size(); ++i)
    require(results.given[i], ErrorKind::invalid_argument, plugin_text(plugin), " infers no type for result ", i,
            " of ", call.outputs());
}

// One run of compute() by an ir::Call.
struct Computation {
  std::vector<tenfold_plugin_tensor> in, out;
  std::deque<Shape> kept;  // strides, and extents that the plug-in finds

  static tenfold_plugin_tensor view(const ir::TensorRef& ref, Shape& strides) {
    if (!ref.data && ref.size() > 0) return {};
    require(ref.dtype != DType::string, ErrorKind::unsupported, "plug-ins take no strings");
    strides = ops::row_major_strides(ref.shape);
    return {static_cast<std::int32_t>(ops::onnx_number(ref.dtype)),
            static_cast<std::int32_t>(ref.shape.size()),
            ref.shape.data(),
            strides.data(),
            ref.data,
            nullptr,
            {}};
  }
  explicit Computation(ir::Call& call) {
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      const bool given = call.node->in(static_cast<int>(i)) != nullptr;
      in.push_back(given ? view(call.in[i], kept.emplace_back()) : tenfold_plugin_tensor{});
    }
    for (ir::TensorRef& ref : call.out) out.push_back(view(ref, kept.emplace_back()));
  }
};

// Which extents of a result this node finds out: symbols that none of its operands has.
bool is_data_dependent(const ir::Node& node, ir::Dim dim) {
  if (!dim.is_symbol()) return false;
  const std::string name = dim.text();
  for (const ir::Value* v : node.inputs)
    for (ir::Dim d : v ? v->dims() : ir::Dims{})
      for (const std::string& symbol : d.symbols())
        if (symbol == name) return false;
  return true;
}

void check_result(ir::Call& call, const PluginTable& plugin, std::size_t output, const Shape& actual) {
  const ir::Dims& dims = call.node->outputs[output]->dims();
  for (std::size_t d = 0; d < actual.size(); ++d) {
    const std::int64_t bound = call.out[output].shape[d];
    const bool found = d < dims.size() && is_data_dependent(*call.node, dims[d]);
    require(actual[d] >= 0 && (found ? actual[d] <= bound : actual[d] == bound), ErrorKind::invalid_argument,
            plugin_text(plugin), ": compute() gives extent ", d, " of result ", output, " as ", actual[d],
            found ? ", at most " : ", where infer() said ", bound, found ? " may be" : "");
  }
  ops::set_output_shape(call, static_cast<int>(output), actual);
}

void reference(ir::Call& call) {
  const PluginTable& plugin = plugin_of(*call.node->def);
  if (plugin.table.expand) return run_plugin_graph(call);
  const AttributeViews attributes(call.attributes(), plugin.attribute_names);
  Computation run(call);
  std::vector<Shape> actual(call.out.size());
  if (plugin.finds_sizes)
    for (std::size_t o = 0; o < call.out.size(); ++o)
      if (const ir::Dims& dims = call.node->outputs[o]->dims();
          std::any_of(dims.begin(), dims.end(), [&](ir::Dim d) { return is_data_dependent(*call.node, d); }))
        actual[o] = call.out[o].shape, run.out[o].actual = actual[o].data();
  PluginWhy why;
  tenfold_plugin_run request{};
  request.size = sizeof request, request.attributes = attributes.data(), request.attribute_count = attributes.count();
  request.in = run.in.data(), request.inputs = static_cast<std::int32_t>(run.in.size());
  request.out = run.out.data(), request.outputs = static_cast<std::int32_t>(run.out.size());
  request.why = why.text, request.why_bytes = sizeof why.text;
  const std::int32_t code = plugin.table.compute(plugin.table.self, &request);
  expect_done(code, plugin, "compute", why.message());
  for (std::size_t o = 0; o < call.out.size(); ++o)
    if (run.out[o].actual) check_result(call, plugin, o, actual[o]);
}

}  // namespace

ir::OpDef plugin_operator(std::shared_ptr<const PluginTable> plugin, ir::Attributes defaults) {
  const tenfold_plugin_operator& t = plugin->table;
  defaults.set(kPluginVersion, static_cast<std::int64_t>(t.version));
  return {.name = plugin->name,
          .min_inputs = t.min_inputs,
          .max_inputs = t.max_inputs,
          .min_outputs = t.min_outputs,
          .max_outputs = t.max_outputs,
          .attributes = std::move(defaults),
          .infer = infer,
          .reference = reference,
          .onnx_since = t.since,
          .onnx_domain = t.domain,
          .onnx_name = t.name,
          .self = std::move(plugin)};
}

}  // namespace tenfold::runtime
