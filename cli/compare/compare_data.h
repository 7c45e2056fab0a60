// tenfold compare --data: how far the first's outputs are from the second's on samples, by a metric.
#pragma once

#include "data/data.h"
#include "engines/exec_options.h"

namespace tenfold::cli {

struct DataQuestion {
  std::string data, tokenizer, metric = "l2", labels;
  std::optional<formats::ImageSpec> image;
  int samples = 100;
  double tolerance = -1;   // below 0: none
  bool json = false;
};

// Runs both on each sample and prints the error; gives the exit code.
int compare_on_data(const std::string& first, const std::string& second, ExecOptions exec, const DataQuestion& question);

}  // namespace tenfold::cli
