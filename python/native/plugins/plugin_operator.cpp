#include "native/plugins/plugin_operator.h"

#include <nanobind/stl/vector.h>

#include "native/bind/network.h"
#include "native/errors.h"
#include "native/plugins/plugin_failures.h"
#include "native/plugins/plugin_values.h"

namespace tenfold::python {
namespace {

constexpr std::int32_t kInvalidArgument = 1, kInvalidModel = 2;

// What a definition says of itself, in the form that gives attributes their place.
class Described final : public PluginOperator {
 public:
  explicit Described(PluginInfo info) : info_(std::move(info)) {}
  PluginInfo info() const override { return info_; }
  std::vector<PluginType> infer(const NetworkAttributes&, std::span<const PluginType>) const override { return {}; }
  void compute(const NetworkAttributes&, std::span<const PluginTensor>, std::span<const PluginTensor>) const override {}

 private:
  PluginInfo info_;
};

PluginInfo info_of(nb::handle d) {
  const auto number = [&](const char* name) { return nb::cast<int>(nb::object(d.attr(name))); };
  return {.domain = nb::cast<std::string>(nb::object(d.attr("domain"))),
          .name = nb::cast<std::string>(nb::object(d.attr("name"))),
          .since = number("since"),
          .version = number("version"),
          .min_inputs = number("min_inputs"),
          .max_inputs = number("max_inputs"),
          .outputs = number("max_outputs"),
          .attributes = attributes_from(nb::cast<nb::dict>(nb::object(d.attr("attributes"))))};
}

PythonOperator& of(void* self) { return *static_cast<PythonOperator*>(self); }

std::int32_t infer(void* self, tenfold_plugin_infer* call) noexcept {
  return call_python(kInvalidModel, call->why, call->why_bytes, [&] {
    const nb::object types =
        of(self).definition().attr("infer_types")(types_of(call->in, call->inputs), attributes_of(call->attributes, call->attribute_count));
    std::int32_t output = 0;
    for (nb::handle type : types) {
      const DType dtype = dtype_of(type[0], "the type of result " + std::to_string(output));
      const auto dims = nb::cast<std::vector<std::string>>(nb::object(type[1]));
      std::vector<const char*> texts;
      for (const std::string& d : dims) texts.push_back(d.c_str());
      const std::int32_t code =
          call->set_output(call, output, plugin_adapter::plugin_number(dtype), static_cast<std::int32_t>(dims.size()), texts.data());
      if (code != 0) return code;
      ++output;
    }
    return 0;
  });
}

std::int32_t compute(void* self, tenfold_plugin_run* call) noexcept {
  return call_python(kInvalidArgument, call->why, call->why_bytes, [&] {
    const auto live = std::make_shared<int>(0);
    {
      const nb::list outputs = arrays_of(call->out, call->outputs, {kDLCPU, 0}, false, live);
      const nb::object found = of(self).definition().attr("compute")(arrays_of(call->in, call->inputs, {kDLCPU, 0}, true, live),
                                                                     attributes_of(call->attributes, call->attribute_count), outputs, [&] {
                                                                       nb::list open;
                                                                       for (std::int32_t i = 0; i < call->outputs; ++i)
                                                                         open.append(call->out[i].actual != nullptr);
                                                                       return open;
                                                                     }());
      for (std::int32_t i = 0; i < call->outputs; ++i)
        for (std::int32_t d = 0; call->out[i].actual != nullptr && d < call->out[i].rank; ++d)
          call->out[i].actual[d] = nb::cast<std::int64_t>(nb::object(found[i][d]));
    }
    expect_dropped(live, "the reference");
    return 0;
  });
}

std::int32_t expand(void* self, tenfold_plugin_expand* call) noexcept {
  return call_python(kInvalidModel, call->why, call->why_bytes, [&] {
    const nb::object text =
        of(self).definition().attr("expand_text")(types_of(call->in, call->inputs), attributes_of(call->attributes, call->attribute_count));
    return call->set_graph(call, nb::cast<std::string>(text).c_str());
  });
}

void release(void* self) noexcept { delete &of(self); }

}  // namespace

PythonOperator::PythonOperator(nb::handle definition) : definition_(hold(definition)) {
  described_ = std::make_unique<plugin_adapter::PluginAdapter>(std::make_shared<Described>(info_of(definition)));
  table_ = described_->table();
  table_.self = this, table_.release = release, table_.tactics = nullptr, table_.tactic_count = 0;
  table_.min_outputs = nb::cast<int>(nb::object(definition.attr("min_outputs")));
  table_.max_outputs = nb::cast<int>(nb::object(definition.attr("max_outputs")));
  table_.infer = nullptr, table_.compute = nullptr, table_.expand = nullptr;
  if (nb::cast<bool>(nb::object(definition.attr("is_graph")))) {
    table_.expand = expand;
    return;
  }
  table_.infer = infer, table_.compute = compute;
  for (nb::handle tactic : nb::object(definition.attr("tactics"))) add_tactic(tactic);
  table_.tactics = tactic_list_.data(), table_.tactic_count = static_cast<std::int32_t>(tactic_list_.size());
}

void PythonOperator::add_tactic(nb::handle tactic) {
  const std::size_t number = python_tactics_.size();
  if (number == kMaxPythonTactics)
    raise_error(ErrorKind::unsupported, "an operator in Python has at most " + std::to_string(kMaxPythonTactics) + " tactics");
  python_tactics_.push_back(hold(tactic));
  names_[number] = nb::cast<std::string>(nb::object(tactic.attr("name")));
  tenfold_plugin_tactic& table = tactics_[number];
  table.size = sizeof table, table.name = names_[number].c_str(), table.version = nb::cast<int>(nb::object(tactic.attr("version")));
  table.device = nb::cast<std::string>(nb::object(tactic.attr("device"))) == "cuda" ? "cuda" : "cpu";
  table.flags = nb::cast<bool>(nb::object(tactic.attr("capturable"))) ? 0 : TENFOLD_PLUGIN_NOT_CAPTURABLE;
  set_tactic_functions(table, static_cast<int>(number), tactic);
  tactic_list_.push_back(&table);
}

}  // namespace tenfold::python
