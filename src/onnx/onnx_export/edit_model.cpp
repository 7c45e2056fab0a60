// Fields are copied one by one, and the few that edits name are written anew. The numbers are the standard's.
#include "onnx_export/edit_model.h"

#include "base/check.h"
#include "onnx_export/own_data.h"
#include "onnx_export/write_messages.h"
#include "onnx_import/wire.h"

namespace tenfold::onnx_export {
namespace {

using onnx_import::Fields;

constexpr int kInitializersAreInputs = 3;   // up to this IR version

// A string field of a message.
std::string text_in(Fields message, std::uint32_t number) {
  std::string text;
  while (message.next())
    if (message.number() == number) text = message.string();
  return text;
}

std::int64_t integer_in(Fields message, std::uint32_t number) {
  std::int64_t value = 0;
  while (message.next())
    if (message.number() == number) value = message.integer();
  return value;
}

class Editor {
 public:
  Editor(const Edits& edits, DataFile* aside, onnx_import::ExternalData* external) : edits_(edits), aside_(aside), data_(external, aside) {}

  Rope model(Fields in) {
    ir_version_ = integer_in(in, 1);
    const bool raised = ir_version_ < edits_.ir_version;
    if (raised) ir_version_ = edits_.ir_version;
    Rope out;
    if (raised) put_integer(out, 1, ir_version_);
    bool imports = false;
    while (in.next()) switch (in.number()) {
      case 1: if (!raised) out.refer(in.whole()); break;
      case 7: put_message(out, 7, graph(in.message("GraphProto"))); break;
      case 8: imports = opset(in, out, 8) || imports; break;
      case 20: data_.keep(in, Holder::training_info, out); break;
      case 25: put_message(out, 25, function(in.message("FunctionProto"))); break;
      default: out.refer(in.whole());
    }
    if (!imports && edits_.opset > 0) put_message(out, 8, opset_proto("", edits_.opset));   // from before operator sets existed
    for (const auto& [domain, version] : edits_.domains)
      if (!imported_.count(domain)) put_message(out, 8, opset_proto(domain, version));
    for (const auto& [place, nodes] : edits_.before) check(place < nodes_, "an edit of a node that the model does not have");
    check(edits_.initializers.empty() || !first_graph_, "initializers for a model without a graph");
    return out;
  }

 private:
  // A graph may come in several parts, which go on one another.
  Rope graph(Fields in) {
    Rope out;
    while (in.next()) switch (in.number()) {
      case 1: node(in, edits_, nodes_, out); break;
      case 5:
        if (stays(text_in(in.message("TensorProto"), 8))) data_.keep(in, Holder::tensor, out);
        break;
      case 11:
      case 13:
        if (stays(text_in(in.message("ValueInfoProto"), 1))) out.refer(in.whole());
        break;
      case 15:
        if (stays(sparse_name(in.message("SparseTensorProto")))) data_.keep(in, Holder::sparse_tensor, out);
        break;
      default: out.refer(in.whole());
    }
    if (first_graph_) add_initializers(out);
    first_graph_ = false;
    return out;
  }

  void add_initializers(Rope& out) {
    for (const auto& [name, tensor] : edits_.initializers) {
      put_message(out, 5, tensor_proto(name, tensor, aside_));
      if (ir_version_ <= kInitializersAreInputs) put_message(out, 11, value_info_proto(name, tensor));
    }
  }

  static std::string sparse_name(Fields in) {
    std::string name;
    while (in.next())
      if (in.number() == 1) name = text_in(in.message("TensorProto"), 8);
    return name;
  }

  bool stays(const std::string& name) const { return !edits_.left_out.count(name); }

  using Bodies = std::map<std::string, GraphEdits>;

  // The one at `place` of a graph, which goes on to the next.
  void node(const Fields& in, const GraphEdits& edits, std::size_t& place, Rope& out) const {
    const std::size_t here = place++;
    if (const auto added = edits.before.find(here); added != edits.before.end())
      for (const NewNode& one : added->second) put_message(out, 1, node_proto(one));
    if (edits.left_out_nodes.count(here)) return;
    static const Bodies none;
    const auto inner = edits.bodies.find(here);
    const Bodies& bodies = inner == edits.bodies.end() ? none : inner->second;
    if (const auto form = edits.forms.find(here); form != edits.forms.end())
      return put_message(out, 1, in_form(in.message("NodeProto"), form->second, bodies));
    const auto changed = edits.inputs.find(here);
    if (changed == edits.inputs.end() && bodies.empty()) return data_.keep(in, Holder::node, out);
    put_message(out, 1, with_inputs(in.message("NodeProto"), changed == edits.inputs.end() ? Names{} : changed->second, bodies));
  }

  using Names = std::map<std::size_t, std::string>;
  Rope with_inputs(Fields in, const Names& names, const Bodies& bodies) const {
    Rope out;
    std::size_t input = 0;
    while (in.next()) {
      const auto name = in.number() == 1 ? names.find(input++) : names.end();
      if (in.number() == 5)
        attribute(in, bodies, out);
      else if (name == names.end())
        out.refer(in.whole());
      else put_text(out, 1, name->second);
    }
    for (auto more = names.find(input); more != names.end(); more = names.find(++input)) put_text(out, 1, more->second);
    check(names.empty() || input > names.rbegin()->first, "edits of operands that a node does not have");
    return out;
  }

  Rope in_form(Fields in, const NodeForm& form, const Bodies& bodies) const {
    Rope out = node_parts(form);
    while (in.next()) switch (in.number()) {
      case 1: break;
      case 4: if (form.op.empty()) out.refer(in.whole()); break;
      case 5:
        if (const std::string name = text_in(in.message("AttributeProto"), 1);
            !form.without.count(name) && !form.attributes.count(name) && !form.texts.count(name))
          attribute(in, bodies, out);
        break;
      default: out.refer(in.whole());
    }
    return out;
  }

  void attribute(const Fields& in, const Bodies& bodies, Rope& out) const {
    const auto edits = bodies.find(text_in(in.message("AttributeProto"), 1));
    if (edits == bodies.end()) return data_.keep(in, Holder::attribute, out);
    Rope with_body;
    std::size_t place = 0;   // a graph may come in several parts here, too
    for (Fields fields = in.message("AttributeProto"); fields.next();)
      if (fields.number() == 6) put_message(with_body, 6, body(fields.message("GraphProto"), edits->second, place));
      else with_body.refer(fields.whole());
    put_message(out, 5, std::move(with_body));
  }

  Rope body(Fields in, const GraphEdits& edits, std::size_t& place) const {
    Rope out;
    while (in.next()) switch (in.number()) {
      case 1: node(in, edits, place, out); break;
      case 5: data_.keep(in, Holder::tensor, out); break;
      case 15: data_.keep(in, Holder::sparse_tensor, out); break;
      default: out.refer(in.whole());
    }
    return out;
  }

  // Whether it is that of ai.onnx.
  bool opset(const Fields& in, Rope& out, int field) {
    const std::string domain = text_in(in.message("OperatorSetIdProto"), 1);
    if (field == 8) imported_.insert(domain);
    const bool of_onnx = domain.empty() || domain == "ai.onnx";
    if (of_onnx && integer_in(in.message("OperatorSetIdProto"), 2) < edits_.opset)
      put_message(out, field, opset_proto(domain, edits_.opset));
    else
      out.refer(in.whole());
    return of_onnx;
  }

  Rope function(Fields in) {
    Rope out;
    while (in.next()) {
      if (in.number() == 9) opset(in, out, 9);
      else if (in.number() == 7)
        data_.keep(in, Holder::node, out);
      else if (in.number() == 11)
        data_.keep(in, Holder::attribute, out);
      else out.refer(in.whole());
    }
    return out;
  }

  const Edits& edits_;
  DataFile* aside_;
  const OwnData data_;
  std::int64_t ir_version_ = 0;
  std::size_t nodes_ = 0;
  std::set<std::string> imported_;   // domains
  bool first_graph_ = true;
};

}  // namespace

bool has_training_info(Rope::Bytes model) {
  onnx_import::Source source{.bytes = model, .what = "an ONNX model"};
  for (Fields in(source, "ModelProto"); in.next();)
    if (in.number() == 20) return true;
  return false;
}

Rope edit_model(Rope::Bytes model, const Edits& edits, DataFile* aside, onnx_import::ExternalData* external) {
  require(!model.empty(), ErrorKind::invalid_model, "is empty, an ONNX model was expected");
  onnx_import::Source source{.bytes = model, .what = "an ONNX model"};
  return Editor(edits, aside, external).model(Fields(source, "ModelProto"));
}

}  // namespace tenfold::onnx_export
