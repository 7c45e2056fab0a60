// What is wrong with a model is collected, and told at the end in one error.
#include "base/check.h"
#include "onnx_import/importer.h"

namespace tenfold {

std::string ModelProblem::text() const {
  const std::string what = op.empty() ? message : cat("node '", node.empty() && !outputs.empty() ? "-> " + outputs[0] : node, "' (",
                                                      domain.empty() ? "" : domain + ".", op, ", opset ", opset, "): ", message);
  return hint.empty() ? what : cat(what, "; ", hint);
}

}  // namespace tenfold

namespace tenfold::onnx_import {

bool is_of_model(ErrorKind kind) { return kind == ErrorKind::invalid_model || kind == ErrorKind::unsupported; }

// Of no node: an input, a weight, an output.
void Importer::note(const Error& error) {
  if (!is_of_model(error.kind())) throw;
  problems_.push_back({.kind = error.kind(), .node = "", .outputs = {}, .op = "", .domain = "", .message = error.what(), .hint = ""});
}

void Importer::report_problems() const {
  if (problems_.empty()) return;
  bool invalid = false, of_nodes = true;
  for (const ModelProblem& problem : problems_)
    invalid |= problem.kind == ErrorKind::invalid_model, of_nodes &= !problem.op.empty();
  const ErrorKind kind = invalid ? ErrorKind::invalid_model : ErrorKind::unsupported;
  const std::size_t count = problems_.size();
  if (count == 1 && (invalid || !of_nodes))
    throw ModelError(kind, cat(of_nodes ? "importing " : "", problems_[0].text()), problems_);
  std::string text = invalid || !of_nodes ? cat("the model has ", count, " faults:")
                                          : cat(count, count == 1 ? " node is" : " nodes are", " not supported:");
  for (const ModelProblem& problem : problems_) text += "\n  " + problem.text();
  throw ModelError(kind, text, problems_);
}

}  // namespace tenfold::onnx_import
