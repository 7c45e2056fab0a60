// The verbs of the command line; each takes the arguments behind its name and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace tenfold::cli {

using Arguments = std::vector<std::string>;

enum ExitCode { kOk = 0, kRunFailed = 1, kUsage = 2, kModelInvalid = 3, kPlanRefused = 4, kAccuracyFailed = 5, kOutOfMemory = 6 };

int exec_main(const Arguments& arguments, bool as_trtexec);
int inspect_main(const Arguments& arguments);
int check_main(const Arguments& arguments);
int compare_main(const Arguments& arguments);
int quantize_main(const Arguments& arguments);
int embed_main(const Arguments& arguments);
int latency_main(const Arguments& arguments);
int doctor_main(const Arguments& arguments);
int ops_main(const Arguments& arguments);
int devices_main(const Arguments& arguments);
int build_request_main(const Arguments& arguments);   // of ModelEngines, not in the help

}  // namespace tenfold::cli
