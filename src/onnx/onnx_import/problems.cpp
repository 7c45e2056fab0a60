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

void Importer::add_problem(ModelProblem problem) {
  ++problem_count_;
  invalid_ |= problem.kind == ErrorKind::invalid_model, problems_of_nodes_ &= !problem.op.empty();
  if (!problem.op.empty()) problem.node_index = outermost_;
  if (problems_.size() < kMaxModelProblems) problems_.push_back(std::move(problem));
}

// Of no node: an input, a weight, an output.
void Importer::note(const Error& error) {
  if (!is_of_model(error.kind())) throw;
  add_problem({.kind = error.kind(), .node = "", .outputs = {}, .op = "", .domain = "", .message = error.what(), .hint = ""});
}

void Importer::report_problems() {
  if (problems_.empty()) return;
  const ErrorKind kind = invalid_ ? ErrorKind::invalid_model : ErrorKind::unsupported;
  if (problem_count_ == 1 && (invalid_ || !problems_of_nodes_))
    throw ModelError(kind, cat(problems_of_nodes_ ? "importing " : "", problems_[0].text()), problems_);
  if (const std::int64_t more = problem_count_ - static_cast<std::int64_t>(problems_.size()); more > 0) {
    ModelProblem rest;
    rest.kind = kind, rest.message = cat("and ", more, " more"), rest.more = more;
    problems_.push_back(std::move(rest));
  }
  std::string text = invalid_ || !problems_of_nodes_
                         ? cat("the model has ", problem_count_, " faults:")
                         : cat(problem_count_, problem_count_ == 1 ? " node is" : " nodes are", " not supported:");
  for (const ModelProblem& problem : problems_) text += "\n  " + problem.text();
  throw ModelError(kind, text, problems_);
}

}  // namespace tenfold::onnx_import
