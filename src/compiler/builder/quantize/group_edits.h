// From weights in groups to edits of a file: a DequantizeLinear with blocks before the product, or a MatMulNBits in its place.
#pragma once

#include "builder/quantize/file_edits.h"
#include "builder/quantize/model_uses.h"
#include "quant/weights/groups.h"

namespace tenfold::builder {

// Weights of one or several products.
struct FileGroups {
  bool transposed = false;   // a column of the product is a row of the tensor
  quant::GroupForm form;
  const quant::GroupedWeights* weights = nullptr;
  const std::vector<float>* factors = nullptr;  // of the weights' rows, by which the data are divided; null: none
};

class GroupEditor {
 public:
  explicit GroupEditor(const onnx::ModelProto& model) : model_(model), names_(model) {}
  void dequantize(std::size_t place, const FileGroups& groups);
  void replace_by_nbits(std::size_t place, const FileGroups& groups);
  FileEdits finish(bool keeps_weights);

 private:
  const onnx::NodeProto& proto(std::size_t place) const { return model_.graph->node[place]; }
  std::string initializer(const std::string& stem, Tensor tensor);
  std::string data(std::size_t place, const FileGroups& groups);  // what the product reads

  const onnx::ModelProto& model_;
  FreshNames names_;
  FileEdits out_;
  std::map<const quant::GroupedWeights*, std::vector<std::string>> written_;   // what they are called
  std::map<std::pair<std::string, const std::vector<float>*>, std::string> divided_;  // data, likewise
  std::set<std::string> replaced_;
};

}  // namespace tenfold::builder
