// An encoder that is an ONNX file, as exporters write it: ids, a mask and types in, the vectors of tokens out. Nothing is padded here, so
// the mask is ones and types are zeros.
#include "text/encoders/model.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;

namespace {

NetworkTensor filled_like(Network& net, NetworkTensor ids, DType type, std::int64_t value) {
  Tensor one(DType::i64, {1});
  *one.mutable_data<std::int64_t>() = value;
  const NetworkTensor wide = net.add_node("Expand", {net.constant(one), net.shape(ids)})[0];
  return type == DType::i64 ? wide : net.cast(wide, type);
}

}  // namespace

Network read_onnx(const Model& model, const EncoderOptions& options, NetworkTensor& tokens) {
  BuildConfig config;
  config.log = options.build.log;
  Network net = Network::read(model.folder.onnx, config);
  const NetworkTensor given = net.find("input_ids");
  if (!given.defined() || net.dims(given).size() != 2 || net.dims(given)[0].name.empty() || net.dims(given)[1].name.empty())
    fail(ErrorKind::invalid_model,
         "'" + model.folder.onnx + "' has no input 'input_ids' of open batch and length; export it with dynamic axes");
  const NetworkTensor ids = net.input("ids", DType::i32, {"texts", "tokens"});
  const NetworkTensor wide = net.dtype(given) == DType::i32 ? ids : net.cast(ids, net.dtype(given));
  for (const NetworkTensor input : net.inputs()) {
    const std::string name = net.name(input);
    if (name == "ids") continue;
    if (name == "input_ids")
      net.replace(input, wide);
    else if (name == "attention_mask")
      net.replace(input, filled_like(net, ids, net.dtype(input), 1));
    else if (name == "token_type_ids")
      net.replace(input, filled_like(net, ids, net.dtype(input), 0));
    else
      fail(ErrorKind::unsupported,
           "'" + model.folder.onnx + "' has the input '" + name + "'; input_ids, attention_mask and token_type_ids are known");
    net.remove_input(name);
  }
  const Network::Tensors outputs = net.outputs();
  for (const NetworkTensor output : outputs)
    if (net.dims(output).size() == 3 && !tokens.defined()) tokens = output;
  if (!tokens.defined())
    fail(ErrorKind::invalid_model, "'" + model.folder.onnx + "' has no output of vectors of tokens, [batch, tokens, width]");
  for (const NetworkTensor output : outputs) net.remove_output(net.name(output));
  return net;
}

}  // namespace tenfold::encoders
