#include "onnx_export/own_data.h"

#include <optional>

#include "onnx_export/write_messages.h"
#include "onnx_import/read_messages.h"
#include "onnx_import/tensor_proto.h"

namespace tenfold::onnx_export {
namespace {

using onnx_import::Fields;

// The numbers are the standard's.
struct Child {
  Holder in;
  std::uint32_t number;
  Holder kind;
};
constexpr Child kChildren[] = {
    {Holder::graph, 1, Holder::node},          {Holder::graph, 5, Holder::tensor},          {Holder::graph, 15, Holder::sparse_tensor},
    {Holder::node, 5, Holder::attribute},      {Holder::attribute, 5, Holder::tensor},      {Holder::attribute, 6, Holder::graph},
    {Holder::attribute, 10, Holder::tensor},   {Holder::attribute, 11, Holder::graph},      {Holder::attribute, 22, Holder::sparse_tensor},
    {Holder::attribute, 23, Holder::sparse_tensor}, {Holder::sparse_tensor, 1, Holder::tensor}, {Holder::sparse_tensor, 2, Holder::tensor},
    {Holder::function, 7, Holder::node},       {Holder::function, 11, Holder::attribute},   {Holder::training_info, 1, Holder::graph},
    {Holder::training_info, 2, Holder::graph},
};
constexpr std::uint32_t kExternalData = 13, kDataLocation = 14;   // of TensorProto
constexpr std::int64_t kExternal = 1;

const char* name_of(Holder kind) {
  switch (kind) {
    case Holder::graph: return "GraphProto";
    case Holder::node: return "NodeProto";
    case Holder::attribute: return "AttributeProto";
    case Holder::tensor: return "TensorProto";
    case Holder::sparse_tensor: return "SparseTensorProto";
    case Holder::function: return "FunctionProto";
    case Holder::training_info: return "TrainingInfoProto";
  }
  return "";
}

std::optional<Holder> child(Holder in, std::uint32_t number) {
  for (const Child& c : kChildren)
    if (c.in == in && c.number == number) return c.kind;
  return {};
}

bool is_external(Fields tensor) {
  bool external = false;
  while (tensor.next())
    if (tensor.number() == kDataLocation) external = tensor.integer() == kExternal;
  return external;
}

bool holds_external(Fields in, Holder kind) {
  if (kind == Holder::tensor) return is_external(in);
  while (in.next())
    if (const auto inner = child(kind, in.number()); inner && holds_external(in.message(name_of(*inner)), *inner)) return true;
  return false;
}

}  // namespace

void OwnData::keep(const Fields& in, Holder kind, Rope& out) const {
  if (!files_ || !holds_external(in.message(name_of(kind)), kind)) return out.refer(in.whole());
  put_message(out, static_cast<int>(in.number()), with_data(in.message(name_of(kind)), kind));
}

Rope OwnData::with_data(Fields in, Holder kind) const {
  if (kind == Holder::tensor) return tensor(in);
  Rope out;
  while (in.next()) {
    if (const auto inner = child(kind, in.number())) keep(in, *inner, out);
    else out.refer(in.whole());
  }
  return out;
}

Rope OwnData::tensor(const Fields& in) const {
  onnx_import::onnx::TensorProto proto;
  onnx_import::read_fields(in, proto);
  Rope out;
  for (Fields fields = in; fields.next();)
    if (fields.number() != kExternalData && fields.number() != kDataLocation) out.refer(fields.whole());
  put_data(out, onnx_import::to_tensor(proto, files_), aside_);
  return out;
}

}  // namespace tenfold::onnx_export
