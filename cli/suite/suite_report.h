// What became of all cases of a suite: counts, reasons, JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tenfold/internal/onnx_suite.h"

namespace tenfold::cli {

struct CaseReport {
  std::string name;
  SuiteResult result;
  std::string died;      // what became of its process, if it did not answer
  double seconds = 0;

  SuiteVerdict verdict() const;      // of all ways together
  bool wrong() const;                // it ran, and gave something else than expected
  const std::string& why() const;    // of the first way that did not pass
};

nlohmann::ordered_json to_json(const SuiteResult& result);
SuiteResult result_from(const nlohmann::ordered_json& json);

const char* name(SuiteWay way);
const char* name(SuiteVerdict verdict);

// `expected`: names of cases that need not pass.
void print_suite(const std::vector<CaseReport>& cases, const std::vector<SuiteWay>& ways, const std::set<std::string>& expected,
                 const std::string& device, double seconds);
nlohmann::ordered_json suite_json(const std::vector<CaseReport>& cases, const std::string& device, double seconds);
// Lines of --expected: the cases that do not pass, and why.
void print_list(const std::vector<CaseReport>& cases);

}  // namespace tenfold::cli
