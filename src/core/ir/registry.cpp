// The registry of operators: the table that the build writes from file names, and additions.
#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::ir {

void Registry::add(OpDef def) {
  const std::string name = def.name;
  require(!name.empty() && def.infer, ErrorKind::invalid_argument, "operator '", name, "' has no name or no shape inference");
  if (def.onnx_domain == "ai.onnx") def.onnx_domain = "";
  if (def.onnx_name.empty()) def.onnx_name = name;
  auto [it, fresh] = defs_.try_emplace(name, std::make_unique<OpDef>(std::move(def)));
  require(fresh, ErrorKind::invalid_argument, "operator '", name, "' is already registered");
}

const OpDef* Registry::find(std::string_view name) const {
  auto it = defs_.find(name);
  return it == defs_.end() ? nullptr : it->second.get();
}

const OpDef& Registry::get(std::string_view name) const {
  const OpDef* def = find(name);
  const bool foreign = name.find('.') != std::string_view::npos;   // of a domain of its own
  require(def != nullptr, ErrorKind::unsupported, "there is no operator '", name, "'",
          foreign ? ", which a plug-in has to give (BuildConfig::plugins, LoadOptions::plugins)" : "");
  return *def;
}

std::vector<const OpDef*> Registry::all() const {
  std::vector<const OpDef*> out;
  for (const auto& [name, def] : defs_) out.push_back(def.get());
  return out;
}

}  // namespace tenfold::ir
