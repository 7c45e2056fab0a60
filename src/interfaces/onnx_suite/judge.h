// The suite's data and its rule: what a case gives to an engine, and whether the answers are those stored.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/interpret.h"
#include "tenfold/internal/onnx_suite.h"

namespace tenfold::onnx_suite {

using Values = std::vector<ops::RuntimeValue>;

struct DataSet {
  Values inputs, expected;   // in the order of the graph's
};
std::vector<DataSet> read_data(const SuiteCase& test, const ir::Graph& graph);

// "" if `got` is `expected`: same type and shape, strings equal, numbers within the tolerance, NaN equal to NaN.
std::string difference(const ops::RuntimeValue& got, const ops::RuntimeValue& expected, const SuiteTolerance& tolerance = {},
                       bool values = true);
// The same of all outputs of a case. Random operators are judged by type and shape alone, and a few cases have tolerances of their own.
std::string judge(const SuiteCase& test, const Values& got, const Values& expected, SuiteTolerance tolerance = {});
bool draws_numbers(const SuiteCase& test);   // the case has no values that are right
bool same_bits(const Values& a, const Values& b);

}  // namespace tenfold::onnx_suite
