// Usage: optimized_suite [--folder node] [--filter softmax] [--seed 1] [--device cuda:0] [--level 3] [--rounds] [--share 2/8] [--list]
// (TENFOLD_SHARED=DIR if ../shared is elsewhere)
//
// The device "far" is the CPU behind memory that the host cannot read: what a GPU asks of the runtime.
// Runs cases of the ONNX suite through the builder and the runtime; prints those that do not pass and a total.
// `tenfold onnx-suite` is the program for users: it has neither seeds nor that device.
// --level is that of the build, 0 if it is left out; --rounds lets f32 be rounded as it is by default.
// --share K/N takes every N-th case from the K-th on, for N processes. --list prints them as lines of optimized_suite_expected.txt.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "optimized_suite.h"

int main(int argc, char** argv) {
  using namespace tenfold;
  using tests::run_optimized_case, tests::shared_folder, tests::suite_root;
  std::string folder = "node", filter, device = "cpu";
  std::uint64_t seed = 0;
  int share = 1, shares = 1, number = 0;
  bool list = false, rounds = false;
  int level = 0;
  for (int i = 1; i < argc; ++i) {
    const bool value = i + 1 < argc;
    if (!std::strcmp(argv[i], "--folder") && value) folder = argv[++i];
    else if (!std::strcmp(argv[i], "--filter") && value) filter = argv[++i];
    else if (!std::strcmp(argv[i], "--seed") && value) seed = std::strtoull(argv[++i], nullptr, 10);
    else if (!std::strcmp(argv[i], "--device") && value)
      device = argv[++i];
    else if (!std::strcmp(argv[i], "--share") && value && std::sscanf(argv[++i], "%d/%d", &share, &shares) == 2 && share >= 1 &&
             share <= shares)
      continue;
    else if (!std::strcmp(argv[i], "--list")) list = true;
    else if (!std::strcmp(argv[i], "--rounds")) rounds = true;
    else if (!std::strcmp(argv[i], "--level") && value) level = std::atoi(argv[++i]);
    else
      return std::fprintf(
                 stderr, "usage: optimized_suite [--folder node] [--filter softmax] [--seed 1] [--device cuda:0] [--level 3] [--rounds] "
                         "[--share 2/8] [--list]\n"),
             1;
  }
  const auto root = suite_root();
  if (!root) return std::fprintf(stderr, "no suite under %s; set TENFOLD_SHARED\n", shared_folder().c_str()), 1;
  constexpr const char* kNames[] = {"pass", "FAIL", "unsupported"};
  int total[3] = {};
  for (const SuiteCase& test : tests::suite_cases(*root, folder, filter)) {
    if (number++ % shares != share - 1) continue;
    std::fprintf(stderr, "\r%-80s\r", test.name.c_str());   // so that a crash names its case
    SuiteFinding result = run_optimized_case(test, seed, device, level, rounds);
    // What the CPU runs, every device has to run.
    if (result.verdict == SuiteVerdict::refused && device != "cpu" &&
        run_optimized_case(test, seed, "cpu", level, rounds).verdict == SuiteVerdict::passed)
      result.verdict = SuiteVerdict::failed;
    const int verdict = static_cast<int>(result.verdict);
    ++total[verdict];
    if (result.verdict == SuiteVerdict::passed) continue;
    std::string why = result.why.substr(0, result.why.find('\n'));
    if (list) std::printf("%s  # %s\n", test.name.c_str(), why.substr(0, 160).c_str());
    else std::printf("%s %s: %s\n", kNames[verdict], test.name.c_str(), why.c_str());
  }
  if (!list) std::printf("%s: %d pass, %d fail, %d unsupported\n", folder.c_str(), total[0], total[1], total[2]);
  return total[1] + (device == "cpu" ? total[2] : 0) == 0 ? 0 : 2;
}
