// Usage: onnx_suite [--folder node] [--filter softmax] [--failing | --list] | --import FILE...   (TENFOLD_SHARED=DIR if ../shared is
// elsewhere)
//
// Runs cases of the ONNX suite through import and the reference kernels; prints a verdict for each and a total.
// --list prints those that do not pass as lines of onnx_suite_expected.txt.
// --import only imports files and prints how many nodes and which symbols they have, or what is wrong with them.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "onnx_import/import.h"
#include "onnx_suite.h"

namespace {

int import_files(int count, char** files) {
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    try {
      const auto graph = tenfold::onnx_import::import_file(files[i]);
      std::printf("%s: %zu nodes, symbols:", files[i], graph.nodes().size());
      for (const auto& symbol : graph.symbols) std::printf(" %s", symbol.name.c_str());
      std::printf("\n");
    } catch (const tenfold::Error& error) {
      std::printf("%s\n", error.what());
      ++failed;
    }
  }
  return failed ? 2 : 0;
}

// What is left of a message without the model's path and the introduction.
std::string reason(std::string text) {
  for (const char* before : {"model.onnx: ", "not supported:", ": there is "}) {
    const std::size_t at = text.find(before);
    if (at != std::string::npos) text.erase(0, at + std::strlen(before));
  }
  text.erase(0, text.find_first_not_of(' '));
  return text.substr(0, std::min<std::size_t>(text.find(';'), 100));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tenfold::tests;
  if (argc > 2 && !std::strcmp(argv[1], "--import")) return import_files(argc - 2, argv + 2);
  std::string folder = "node", filter;
  bool failing = false, list = false;
  for (int i = 1; i < argc; ++i) {
    const bool value = i + 1 < argc;
    if (!std::strcmp(argv[i], "--folder") && value) folder = argv[++i];
    else if (!std::strcmp(argv[i], "--filter") && value) filter = argv[++i];
    else if (!std::strcmp(argv[i], "--failing")) failing = true;
    else if (!std::strcmp(argv[i], "--list")) list = true;
    else return std::fprintf(stderr, "usage: onnx_suite [--folder node] [--filter softmax] [--failing | --list]\n"), 1;
  }
  const auto root = suite_root();
  if (!root) return std::fprintf(stderr, "no suite under %s; set TENFOLD_SHARED\n", shared_folder().c_str()), 1;
  constexpr const char* kNames[] = {"pass", "FAIL", "unsupported"};
  std::map<Verdict, int> total;
  for (const SuiteCase& test : suite_cases(*root, folder, filter)) {
    if (!failing && !list) std::printf("%s ", test.name.c_str()), std::fflush(stdout);   // so that a crash names its case
    CaseResult result = run_case(test, run_reference);
    std::replace(result.why.begin(), result.why.end(), '\n', ' ');   // one line for each case
    ++total[result.verdict];
    if (list) {
      if (result.verdict != Verdict::pass) std::printf("%s/%s  # %s\n", folder.c_str(), test.name.c_str(), reason(result.why).c_str());
      continue;
    }
    if (failing && result.verdict != Verdict::fail) continue;
    if (failing) std::printf("%s ", test.name.c_str());
    std::printf("%s%s%s\n", kNames[static_cast<int>(result.verdict)], result.why.empty() ? "" : ": ", result.why.c_str());
  }
  if (list) return 0;
  std::printf("%s: %d pass, %d fail, %d unsupported\n", folder.c_str(), total[Verdict::pass], total[Verdict::fail],
              total[Verdict::unsupported]);
  return total[Verdict::fail] + total[Verdict::unsupported] == 0 ? 0 : 2;
}
