// What ai.onnx.ml does with scores at last.
#pragma once

#include <span>
#include <string>

namespace tenfold::ops {

enum class PostTransform { none, softmax, logistic, softmax_zero, probit };   // in the order of TreeEnsemble's numbers
// Throws a fault for a name that the standard does not have.
PostTransform post_transform(const std::string& name);
double logistic(double x);
void transform(std::span<double> scores, PostTransform how);   // of one row

}  // namespace tenfold::ops
