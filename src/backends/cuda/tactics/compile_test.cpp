// Every kernel that our own tactics generate for the operators' cases, compiled for every architecture. Needs NVRTC, but no GPU.
#include <filesystem>
#include <fstream>
#include <future>

#include "backends/code.h"
#include "backends/cuda/device/machine_code.h"
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/helpers.h"
#include "backends/cuda/device/library.h"
#include "backends/tactic_cases_for_tests.h"
#include "backends/tactic_for_tests.h"
#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::backends {

namespace {

constexpr int kArchitectures[] = {75, 80, 86, 89, 90, 100, 120};

DeviceInfo compile_only(int arch) {
  DeviceInfo info;
  info.kind = "cuda", info.arch = arch, info.ordinal = -arch;  // see device_of()
  return info;
}

class CompileSweep {
 public:
  // `table`: gets a line for each binary: architecture, hash of its machine code, tactic, configuration, problem.
  // `ahead`: compiling is only started.
  CompileSweep(int arch, bool ahead, std::ostream* table) : device_(compile_only(arch)), ahead_(ahead), table_(table) {
    for (Tactic& t : cuda_tactics())
      if (t.source == Source::native) tactics_.push_back(t), opened[t.name] = 0;
  }
  // Opens what accepts the case; of each tactic at most `max` problems, each in its first configuration or in every one.
  void run(const ir::OpDef& op, const std::string& text, int max, bool every) {
    if (const char* only = std::getenv("TENFOLD_OPS"); only && cat(",", only, ",").find(cat(",", op.name, ",")) == std::string::npos)
      return;
    const ir::Graph graph = testing::graph_of({&op, text});
    if (graph.nodes().size() != 1) return;
    for (const Tactic& t : tactics_) {
      if (!t.computes(op)) continue;
      testing::TacticRun run(t, graph, 0);
      run.problem.device = &device_;
      const std::vector<Formats> all =
          t.formats ? t.formats(run.problem)
                    : std::vector<Formats>{{std::vector<Layout>(run.problem.in.size()), std::vector<Layout>(run.problem.out.size())}};
      for (const Formats& formats : all) {
        if (opened[t.name] >= max) break;
        run.use(formats);
        if (!t.supports(run.problem)) continue;
        ++opened[t.name];
        std::vector<Config> configs = t.configs(run.problem);
        Problem anywhere = run.problem;
        anywhere.let_be_misaligned(true);   // the kernels for misaligned addresses, too
        if (!every) configs.resize(1);
        for (const Config& config : configs) {
          Opening opening{.ahead = ahead_};
          EXPECT_NO_THROW(t.open(anywhere, config, opening))
              << t.name << " " << ::testing::PrintToString(config) << " on " << run.problem.line();
          for (const auto& code : opening.used) note(*code, cat(t.name, " ", ::testing::PrintToString(config), " ", anywhere.line()));
          ++configurations;
        }
      }
    }
  }
  std::map<std::string, int> opened;
  int configurations = 0;

 private:
  void note(const Code& code, const std::string& what) {
    if (!table_) return;
    const Hash128 hash = cuda::machine_code_hash(code.image);
    *table_ << "sm_" << device_.arch << " " << std::hex << hash.high << "-" << hash.low << std::dec << " " << what << "\n";
  }
  DeviceInfo device_;
  std::vector<Tactic> tactics_;
  bool ahead_;
  std::ostream* table_;
};

CompileSweep swept(int arch, int max, bool every, bool ahead, std::ostream* table = nullptr) {
  CompileSweep sweep(arch, ahead, table);
  for (const testing::TacticCase& c : testing::tactic_cases()) sweep.run(*c.op, c.text, max, every);
  for (const ir::OpDef* op : ir::Registry::builtin().all())
    for (const std::string& text : op->cases) sweep.run(*op, text, max, every);
  return sweep;
}

bool runs_on(const std::string& tactic, int arch) {
  if (tactic.ends_with("_wgmma")) return arch == 90;
  if (tactic.ends_with("block_scaled_few") || tactic.ends_with("block_scaled_many")) return arch >= 80;
  return tactic.find("_float8_") == std::string::npos || arch >= 89;
}

// Helpers compile on all cores what a first pass asks for; the second takes it, and compiles again, to say why, what they could not.
void sweep(int arch, int max, bool every = false, std::ostream* table = nullptr) {
  ::setenv("TENFOLD_NVRTC_HELPER", TENFOLD_HELPER, 0);
  swept(arch, max, every, true);
  const CompileSweep sweep = swept(arch, max, every, false, table);
  std::printf("sm_%d: %d configurations\n", arch, sweep.configurations);
  if (std::getenv("TENFOLD_OPS") || table) return;  // only these operators
  for (const auto& [tactic, count] : sweep.opened)
    if (runs_on(tactic, arch)) {
      EXPECT_GT(count, 0) << tactic << " was never compiled: give it a case in Tactic::cases";
    }
}

// NVRTC may come with script/bootstrap's Python packages.
std::string why_not() {
  cuda::add_search_place(TENFOLD_SOURCE_DIR "/build/venv");
  return cuda::compiler_why_not();
}

TEST(CudaCompile, HelpersMakeTheSameBinary) {
  if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  const std::string helper = TENFOLD_HELPER;
  if (!std::filesystem::exists(helper)) GTEST_SKIP() << "tenfold-nvrtc is not built";
  const auto source = [](int i) { return cat("extern \"C\" __global__ void kernel(int* x) { *x = ", i, "; }"); };
  std::vector<std::promise<std::string>> made(5);
  {
    cuda::HelperPool pool(helper, cuda::compiler_path(), 2);
    for (int i = 0; i < 5; ++i)
      pool.compile(i == 4 ? "this is no CUDA" : source(i), 90,
                   [&, i](std::string binary) { made[static_cast<std::size_t>(i)].set_value(std::move(binary)); });
    for (int i = 0; i < 4; ++i) EXPECT_EQ(made[static_cast<std::size_t>(i)].get_future().get(), cuda::compile(source(i), 90));
    EXPECT_EQ(made[4].get_future().get(), "");
  }
  std::promise<std::string> none;
  cuda::HelperPool pool("/there/is/no/such/program", "", 1);
  pool.compile(source(0), 90, [&](std::string binary) { none.set_value(std::move(binary)); });
  EXPECT_EQ(none.get_future().get(), "");
}
// With the values that it has for editors: what a change by hand breaks is told at once, and with the file's own lines.
TEST(CudaCompile, EveryKernelFileAlone) {
  if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  int count = 0;
  for (const cuda::KernelFile& file : cuda::embedded_kernel_files()) {
    if (!file.name.ends_with(".cu")) continue;
    EXPECT_NO_THROW(cuda::compile(cat("#include \"", file.name, "\"\n"), 90)) << file.name;
    ++count;
  }
  EXPECT_GT(count, 10);
}
TEST(CudaCompile, ManyCasesForHopper) {
  if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  sweep(90, std::getenv("TENFOLD_OPS") ? 1000 : 12);   // of named operators every case
}
// What the tuner may pick: two problems of each tactic, in all configurations.
TEST(CudaCompile, EveryConfigurationForHopper) {
  if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  sweep(90, 2, true);
}
TEST(CudaCompile, EveryConfigurationForAmpere) {
  if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  sweep(80, 2, true);
}
TEST(CudaCompile, EveryTacticForEveryArchitecture) {
  if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  for (int arch : kArchitectures) {
    SCOPED_TRACE(cat("sm_", arch));
    sweep(arch, 2);
  }
}
// What proves that a change of kernels' texts changes no machine code: tables from before and after, compared with diff. Of named operators
// every case.
TEST(CudaCompile, TableOfMachineCode) {
  const char* file = std::getenv("TENFOLD_CODE_TABLE");
  if (!file) GTEST_SKIP() << "TENFOLD_CODE_TABLE names no file to write";
  if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  const char* only = std::getenv("TENFOLD_ARCHITECTURES");   // "80,90"; default: all
  std::ofstream table(file);
  for (int arch : kArchitectures)
    if (!only || cat(",", only, ",").find(cat(",", arch, ",")) != std::string::npos)
      sweep(arch, std::getenv("TENFOLD_OPS") ? 1000 : 2, arch == 90 || arch == 80 || arch == 120, &table);
  EXPECT_TRUE(table.good()) << file;
}

}  // namespace
}  // namespace tenfold::backends
