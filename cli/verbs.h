// The verbs of the command line; each takes the arguments behind its name and returns the exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenfold::cli {

using Arguments = std::vector<std::string>;

enum ExitCode { kOk = 0, kRunFailed = 1, kUsage = 2, kModelInvalid = 3, kPlanRefused = 4, kAccuracyFailed = 5, kOutOfMemory = 6 };

class Flags;
using UseFlags = std::function<void(const Flags&)>;  // a table is there for as long as the call

// What people call. `flags` shows the table that `run` parses with.
struct Verb {
  const char* name;
  const char* summary;
  int (*run)(const Arguments&);
  void (*flags)(const UseFlags& use);
};
const std::vector<Verb>& verbs();

int exec_main(const Arguments& arguments, bool as_trtexec);
int inspect_main(const Arguments& arguments);
int report_main(const Arguments& arguments);
int check_main(const Arguments& arguments);
int compare_main(const Arguments& arguments);
int quantize_main(const Arguments& arguments);
int convert_main(const Arguments& arguments);
int embed_main(const Arguments& arguments);
int generate_main(const Arguments& arguments);
int segment_main(const Arguments& arguments);
int serve_main(const Arguments& arguments);
int latency_main(const Arguments& arguments);
int doctor_main(const Arguments& arguments);
int onnx_suite_main(const Arguments& arguments);
int ops_main(const Arguments& arguments);
int devices_main(const Arguments& arguments);
int cache_main(const Arguments& arguments);
void exec_flags(const UseFlags& use);
void inspect_flags(const UseFlags& use);
void report_flags(const UseFlags& use);
void check_flags(const UseFlags& use);
void compare_flags(const UseFlags& use);
void quantize_flags(const UseFlags& use);
void convert_flags(const UseFlags& use);
void embed_flags(const UseFlags& use);
void generate_flags(const UseFlags& use);
void segment_flags(const UseFlags& use);
void serve_flags(const UseFlags& use);
void latency_flags(const UseFlags& use);
void doctor_flags(const UseFlags& use);
void onnx_suite_flags(const UseFlags& use);
void ops_flags(const UseFlags& use);
void devices_flags(const UseFlags& use);
void cache_flags(const UseFlags& use);

int build_request_main(const Arguments& arguments);   // of ModelEngines, not in the help

}  // namespace tenfold::cli
