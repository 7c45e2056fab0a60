// A file raised to a newer opset: read, imported for its types, edited, imported again, written.
#include "tenfold/internal/convert_file.h"

#include <map>
#include <optional>

#include "base/check.h"
#include "base/files/file.h"
#include "builder/model/model.h"
#include "builder/model/write_model.h"
#include "builder/quantize/model_uses.h"
#include "builder/quantize/places.h"
#include "onnx_export/edit_model.h"
#include "onnx_export/raise_forms.h"
#include "onnx_export/raise_opset.h"
#include "onnx_import/external_data.h"
#include "onnx_import/newest.h"
#include "onnx_import/read_messages.h"
#include "runtime/plugins/plugins.h"
#include "tenfold/internal/as_error.h"

namespace tenfold::builder {
namespace {

using onnx_import::kNewestOpset;

// The least IR version that the standard has for an opset.
int ir_version_for(int opset) {
  constexpr int kSince[][2] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}, {10, 5}, {9, 4}};
  for (const auto& [since, version] : kSince)
    if (opset >= since) return version;
  return 3;
}

class Converter {
 public:
  Converter(const std::string& path, const std::string& output, int opset, const BuildConfig& config)
      : path_(path), output_(output), opset_(opset), config_(config), file_(MappedFile::read(path)),
        model_(onnx_import::read_model(file_->bytes())), registry_(runtime::registry_with(config.plugins.get())) {
    require(opset >= 7 && opset <= kNewestOpset, ErrorKind::invalid_argument, "opset ", opset, " was asked for, 7 to ", kNewestOpset,
            " are known");
    require(bool(model_.graph), ErrorKind::invalid_model, "the model has no graph");
    expect_places(path, output, model_);
  }

  ConvertReport run(bool external_data) {
    const int before = onnx_export::onnx_opset(model_);
    onnx_export::Edits edits;
    if (before < opset_) edits = raised(before);
    onnx_import::ExternalData external(path_, {config_.external_data_dirs.begin(), config_.external_data_dirs.end()});
    write_model(file_->bytes(), edits, external, output_, external_data);
    return {before, std::max(before, opset_), rewritten_};
  }

 private:
  onnx_export::Edits raised(int before) {
    const ir::Graph graph = import(file_->bytes());
    Types types;
    if (graph.model_names) add_types(graph, graph.model_names->tensors, types);
    FreshNames names(model_);
    onnx_export::Raising raising{before, opset_, [&](const std::string& stem) { return names.value(stem); },
                                 [&](const std::string& name) {
                                   const auto found = types.find(name);
                                   return found == types.end() || !found->second ? nullptr : &*found->second;
                                 }};
    onnx_export::Edits edits;
    edits.opset = opset_, edits.ir_version = ir_version_for(opset_);
    const onnx_export::NodeSet written = onnx_export::write_forms(model_, raising, edits);
    onnx_export::write_raised(model_, opset_, raising.fresh, edits);
    expect_all(onnx_export::nodes_in_the_way(model_, opset_, registry_, written), before);
    rewritten_ = rewritten(edits);
    const std::string text = onnx_export::edit_model(file_->bytes(), edits).flat();
    try {
      import(std::as_bytes(std::span(text)));
    } catch (const Error& error) {
      fail(ErrorKind::internal, cat("the converted model is not accepted, which is a mistake of the conversion: ", error.what()));
    }
    return edits;
  }

  ir::Graph import(std::span<const std::byte> bytes) const {
    BuildConfig own = config_;
    own.log = {};
    const auto importing = [&](const onnx_import::ImportOptions& options) {
      return onnx_import::import_bytes(bytes, options, path_, registry_);
    };
    return import_source(importing, import_options(own), own);
  }
  // By name. Bodies beside each other may use one for values of different types: what these have in common, or nothing.
  using Types = std::map<std::string, std::optional<ir::ValueType>>;
  static void add_types(const ir::Graph& graph, const std::vector<std::string>& tensors, Types& types) {
    std::map<std::string, const ir::ValueType*> own;
    for (const auto& v : graph.values()) {
      own.try_emplace(v->name, &v->type);
      for (const std::int32_t n : v->names) own.try_emplace(tensors.at(static_cast<std::size_t>(n)), &v->type);
    }
    for (const auto& [name, type] : own) {
      const auto [known, is_new] = types.try_emplace(name, *type);
      if (is_new || !known->second || *known->second == *type) continue;
      const bool alike = known->second->without_dims() == type->without_dims();
      if (alike) known->second->ranked = false;
      else known->second.reset();
    }
    for (const auto& node : graph.nodes())
      for (const auto& body : node->graphs) add_types(*body, tensors, types);
  }
  static int rewritten(const onnx_export::GraphEdits& edits) {
    std::size_t count = edits.forms.size() + edits.left_out_nodes.size();
    for (const auto& [place, bodies] : edits.bodies)
      for (const auto& [attribute, body] : bodies) count += static_cast<std::size_t>(rewritten(body));
    return static_cast<int>(count);
  }
  void expect_all(const std::vector<std::string>& nodes, int before) const {
    constexpr std::size_t kShown = 8;
    std::string names;
    for (std::size_t i = 0; i < nodes.size() && i < kShown; ++i) names += (i ? ", " : "") + nodes[i];
    require(nodes.empty(), ErrorKind::unsupported, "the model imports opset ", before, ", and these nodes mean something else at ", opset_,
            " and have no form here: ", names, nodes.size() > kShown ? cat(" and ", nodes.size() - kShown, " more") : "",
            "; ask for an older opset, or export the model anew");
  }

  const std::string path_, output_;
  const int opset_;
  const BuildConfig& config_;
  const std::shared_ptr<const MappedFile> file_;
  const onnx::ModelProto model_;
  const ir::Registry& registry_;
  int rewritten_ = 0;
};

}  // namespace
}  // namespace tenfold::builder

namespace tenfold {

ConvertReport convert_file(const std::string& model, const std::string& output, int opset, const BuildConfig& config, bool external_data) {
  try {
    return as_error([&] { return builder::Converter(model, output, opset, config).run(external_data); });
  } catch (Error& error) {
    if (error.kind() == ErrorKind::invalid_model || error.kind() == ErrorKind::unsupported) error.within(model);
    throw;
  }
}

}  // namespace tenfold
