// From PluginOperator to OpDef and Tactic.
#include "runtime/plugins.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace tenfold {
namespace {

using backends::Config;
using backends::Problem;
using backends::Verdict;

constexpr const char* kVersion = "plugin_version";   // travels with every node, and so with every step of a plan
constexpr int kMostOperands = 16;                    // of a fast kernel: their descriptions stand on the stack

const PluginOperator& self_of(const ir::OpDef& def) { return *static_cast<const PluginOperator*>(def.self.get()); }

NetworkAttributes attributes_of(const ir::Attributes& attributes) {
  NetworkAttributes out;
  for (const auto& [name, value] : attributes)
    if (name != kVersion) std::visit([&, &key = name](const auto& v) { out[key] = v; }, value);
  return out;
}

ir::Attributes defaults_of(const PluginInfo& info) {
  ir::Attributes out{{kVersion, static_cast<std::int64_t>(info.version)}};
  for (const auto& [name, value] : info.attributes) std::visit([&, &key = name](const auto& v) { out.set(key, v); }, value);
  return out;
}

PluginType type_of(DType dtype, const ir::Dims& dims) {
  PluginType type{dtype, {}};
  for (ir::Dim d : dims) type.dims.push_back(d.text());
  return type;
}

void check_version(const ir::OpDef& def, const ir::Attributes& attributes) {
  const std::int64_t here = def.attributes.integer(kVersion), there = attributes.integer(kVersion, here);
  require(here == there, ErrorKind::plan_refused, "plug-in '", def.name, "' is version ", here, " here, version ", there,
          " is asked for: build the plan again");
}

void infer(ir::InferCall& call) {
  const ir::OpDef& def = *call.node().def;
  check_version(def, call.attributes());
  std::vector<PluginType> in;
  for (int i = 0; i < call.inputs(); ++i) in.push_back(call.has(i) ? type_of(call.dtype(i), call.dims(i)) : PluginType{});
  const std::vector<PluginType> out = self_of(def).infer(attributes_of(call.attributes()), in);
  require(static_cast<int>(out.size()) == call.outputs(), ErrorKind::invalid_argument, "plug-in '", def.name, "' infers ", out.size(),
          " types for ", call.outputs(), " results");
  for (int i = 0; i < call.outputs(); ++i) {
    ir::Dims dims;
    for (const std::string& d : out[static_cast<std::size_t>(i)].dims) dims.push_back(ir::Dim::parse(d));
    call.out(i, out[static_cast<std::size_t>(i)].dtype, std::move(dims));
  }
}

PluginTensor tensor_of(const ir::TensorRef& ref) { return {ref.dtype, ref.shape.data(), static_cast<int>(ref.shape.size()), ref.data}; }

void reference(ir::Call& call) {
  std::vector<PluginTensor> in, out;
  for (const ir::TensorRef& ref : call.in) in.push_back(tensor_of(ref));
  for (const ir::TensorRef& ref : call.out) out.push_back(tensor_of(ref));
  self_of(*call.node->def).compute(attributes_of(call.attributes()), in, out);
}

// What one step needs in a run.
struct Kernel {
  std::shared_ptr<const void> owner;
  const PluginOperator* op = nullptr;
  NetworkAttributes attributes;
  std::vector<DType> in, out;
};

std::vector<PluginType> types_of(const std::vector<backends::OperandDesc>& operands) {
  std::vector<PluginType> types;
  for (const backends::OperandDesc& o : operands) types.push_back(o.missing ? PluginType{} : type_of(o.dtype, o.dims));
  return types;
}

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("it takes no epilogue");
  if (p.in.size() > kMostOperands || p.out.size() > kMostOperands) return Verdict::no("it has too many operands");
  for (const auto* list : {&p.in, &p.out})
    for (const backends::OperandDesc& o : *list)
      if (!o.dense || !(o.layout == backends::kPlain)) return Verdict::no("plug-ins take dense operands in plain order");
  const std::string why = self_of(*p.op).refuse(attributes_of(*p.attributes), types_of(p.in));
  return why.empty() ? Verdict::ok() : Verdict::no(why);
}

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  auto kernel = std::make_shared<Kernel>(Kernel{p.op->self, &self_of(*p.op), attributes_of(*p.attributes), {}, {}});
  for (const backends::OperandDesc& o : p.in) kernel->in.push_back(o.dtype);
  for (const backends::OperandDesc& o : p.out) kernel->out.push_back(o.dtype);
  return kernel;
}

using Described = std::array<PluginTensor, kMostOperands>;
std::span<const PluginTensor> describe(Described& to, std::span<const backends::Bound> from, const std::vector<DType>& types) noexcept {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = {types[i], from[i].dims, from[i].rank, from[i].data};
  return {to.data(), from.size()};
}

void run_parts(void* pool, std::int64_t parts, void (*part)(void*, std::int64_t), void* context) {
  static_cast<Parallel*>(pool)->for_each(parts, [&](std::int64_t i, int) { part(context, i); });
}

Status::Code run(const void* opened, const backends::RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(opened);
  Described in, out;
  kernel.op->fast(kernel.attributes, describe(in, args.in, kernel.in), describe(out, args.out, kernel.out), {run_parts, args.parallel});
  return Status::ok;
}

std::vector<Config> configs(const Problem&) { return {{}}; }

class BackendWithPlugins final : public backends::Backend {
 public:
  BackendWithPlugins(std::shared_ptr<backends::Backend> base, std::shared_ptr<const Plugins> plugins)
      : base_(std::move(base)), plugins_(std::move(plugins)), tactics_(base_->tactics()) {
    const auto& more = plugins_->impl().tactics;
    if (base_->info().kind == "cpu") tactics_.insert(tactics_.end(), more.begin(), more.end());
    std::sort(tactics_.begin(), tactics_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  std::string_view name() const override { return base_->name(); }
  const backends::DeviceInfo& info() const override { return base_->info(); }
  const std::vector<backends::Tactic>& tactics() const override { return tactics_; }
  std::vector<std::string> libraries() const override { return base_->libraries(); }
  std::shared_ptr<void> allocate(std::int64_t bytes) override { return base_->allocate(bytes); }
  bool host_reads_memory() const override { return base_->host_reads_memory(); }
  std::shared_ptr<void> allocate_host(std::int64_t bytes) override { return base_->allocate_host(bytes); }
  std::shared_ptr<const void> place_constants(const void* data, std::int64_t bytes) override { return base_->place_constants(data, bytes); }
  double reformat_ns(std::int64_t bytes) const override { return base_->reformat_ns(bytes); }
  std::unique_ptr<backends::Stream> open_stream(const backends::StreamOptions& options) override { return base_->open_stream(options); }
  double measure(backends::Stream& stream, const backends::Tactic& tactic, const void* kernel, const backends::RunArgs& args,
                 const backends::MeasureBudget& budget) override {
    return base_->measure(stream, tactic, kernel, args, budget);
  }

 private:
  std::shared_ptr<backends::Backend> base_;
  std::shared_ptr<const Plugins> plugins_;
  std::vector<backends::Tactic> tactics_;
};

}  // namespace

Plugins::Impl::Impl() {
  for (const ir::OpDef* def : ir::Registry::builtin().all()) registry.add(*def);
}
Plugins::Plugins() : impl_(std::make_unique<Impl>()) {}
Plugins::~Plugins() = default;

void Plugins::add(std::shared_ptr<const PluginOperator> op) {
  require(op != nullptr, ErrorKind::invalid_argument, "the plug-in is null");
  const PluginInfo info = op->info();
  require(!info.domain.empty() && info.domain != "ai.onnx" && !info.name.empty(), ErrorKind::invalid_argument,
          "a plug-in needs a name and a domain of its own, '", info.domain, "' and '", info.name, "' are given");
  require(!info.attributes.count(kVersion), ErrorKind::invalid_argument, "the attribute '", kVersion, "' is Tenfold's own");
  const std::string name = info.domain + "." + info.name;
  impl_->registry.add({.name = name, .min_inputs = info.min_inputs, .max_inputs = info.max_inputs, .min_outputs = info.outputs,
                       .max_outputs = info.outputs, .attributes = defaults_of(info), .infer = infer, .reference = reference,
                       .from_onnx = {{.op = info.name, .since = info.since, .domain = info.domain}}, .self = op});
  impl_->tactics.push_back({.name = "plugin " + name, .version = info.version, .op = name, .source = backends::Source::plugin,
                            .supports = supports, .configs = configs, .open = open, .run = run});
}

namespace runtime {

const ir::Registry& registry_with(const Plugins* plugins) { return plugins ? plugins->impl().registry : ir::Registry::builtin(); }

std::shared_ptr<backends::Backend> backend_with(std::shared_ptr<backends::Backend> backend, std::shared_ptr<const Plugins> plugins) {
  if (!plugins) return backend;
  return std::make_shared<BackendWithPlugins>(std::move(backend), std::move(plugins));
}

}  // namespace runtime
}  // namespace tenfold
