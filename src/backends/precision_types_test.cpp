// docs/reference/precision-types.md: in which types each operator computes on which device, asked of the tactics themselves.
// No hardware is needed. TENFOLD_WRITE_DOCS=1 writes the page; without it the test compares.
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "backends/tactic_cases_for_tests.h"
#include "backends/tactic_for_tests.h"
#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

struct Column {
  const char* title;
  DeviceInfo device;
  std::vector<Tactic> tactics;   // our own, but those that take any operator
};

std::vector<Column> columns() {
  constexpr std::uint32_t kWide = kAvx2 | kAvx512 | kVnni, kAmx = kWide | kAvx512Bf16 | kAmxInt8 | kAmxBf16;
  std::vector<Column> all;
  const auto add = [&](const char* title, const char* kind, std::uint32_t features, int arch, const std::vector<Tactic>& tactics) {
    Column column{.title = title, .device = {}, .tactics = {}};
    column.device.kind = kind, column.device.features = features, column.device.arch = arch, column.device.ordinal = -arch;
    for (const Tactic& t : tactics)
      if (t.source == Source::native) column.tactics.push_back(t);
    all.push_back(std::move(column));
  };
  add("CPU, AVX2", "cpu", kAvx2, 0, cpu_tactics());
  add("AVX-512, VNNI", "cpu", kWide, 0, cpu_tactics());
  add("AMX", "cpu", kAmx, 0, cpu_tactics());
  add("GPU, 7.5", "cuda", 0, 75, cuda_tactics());
  add("8.0", "cuda", 0, 80, cuda_tactics());
  add("8.9", "cuda", 0, 89, cuda_tactics());
  add("9.0", "cuda", 0, 90, cuda_tactics());
  add("10.0, 12.0", "cuda", 0, 100, cuda_tactics());
  return all;
}

// In the order in which the page lists them; of both integer types of 8 bits one word.
const std::vector<std::pair<DType, std::string>>& types() {
  static const std::vector<std::pair<DType, std::string>> all = {
      {DType::f32, "f32"}, {DType::f16, "f16"}, {DType::bf16, "bf16"}, {DType::i8, "8 bits"}, {DType::u8, "8 bits"},
      {DType::f8e4m3fn, "e4m3"}, {DType::f8e5m2, "e5m2"}};
  return all;
}
const std::vector<std::string>& words() {
  static const std::vector<std::string> all = {"f32", "(tf32)", "(f16)", "(bf16)", "f16", "bf16", "8 bits", "e4m3", "e5m2"};
  return all;
}

using Cells = std::vector<std::set<std::string>>;   // of each column the words that hold

bool takes(const Tactic& tactic, testing::TacticRun& run) {
  if (!tactic.formats) return bool(tactic.supports(run.problem));
  for (const Formats& formats : tactic.formats(run.problem)) {
    run.use(formats);
    if (tactic.supports(run.problem)) return true;
  }
  return false;
}

// The case of f32 is also asked in 16 bits, and with TF32 allowed.
void add_types(const ir::OpDef& op, const std::string& text, const std::vector<Column>& columns, Cells& cells) {
  const auto graph_of = [&](const std::string& t) -> std::optional<ir::Graph> {
    try {
      ir::Graph graph = testing::graph_of({&op, t});
      if (graph.nodes().size() == 1) return graph;
    } catch (const Error&) {   // the operator has no such type
    }
    return {};
  };
  for (const char* type : {"f32", "f16", "bf16"}) {
    std::string typed = text;
    for (std::size_t at = 0; (at = typed.find("f32", at)) != std::string::npos; at += std::strlen(type)) typed.replace(at, 3, type);
    if (typed == text && type != std::string("f32")) return;
    const std::optional<ir::Graph> graph = graph_of(typed);
    if (!graph || graph->nodes().front()->inputs.empty() || !graph->nodes().front()->in(0)) continue;
    const DType first = graph->nodes().front()->in(0)->dtype();
    const auto word = std::find_if(types().begin(), types().end(), [&](const auto& t) { return t.first == first; });
    if (word == types().end()) continue;
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const Tactic& tactic : columns[c].tactics) {
        if (!tactic.computes(op)) continue;
        testing::TacticRun run(tactic, *graph, 0);
        run.problem.device = &columns[c].device;
        run.problem.numerics.round_to = ir::Rounding::none;
        const bool exact = !tactic.rounds_f32 && takes(tactic, run);
        if (exact) cells[c].insert(word->second);
        if (exact || word->first != DType::f32) continue;
        for (const ir::Rounding to : {ir::Rounding::tf32, ir::Rounding::f16, ir::Rounding::bf16}) {
          run.problem.numerics.round_to = to;
          if (takes(tactic, run)) {
            cells[c].insert(cat("(", name(to), ")"));
            break;
          }
        }
      }
  }
}

std::string page() {
  const std::vector<Column> all = columns();
  std::map<std::string, Cells> rows;
  const auto row = [&](const ir::OpDef& op, const std::string& text) {
    Cells& cells = rows.try_emplace(op.name, all.size()).first->second;
    add_types(op, text, all, cells);
  };
  for (const testing::TacticCase& c : testing::tactic_cases()) row(*c.op, c.text);
  for (const ir::OpDef* op : ir::Registry::builtin().all())
    for (const std::string& text : op->cases) row(*op, text);
  std::map<std::vector<std::string>, std::vector<std::string>> alike;   // the cells' texts: operators
  for (const auto& [op, cells] : rows) {
    std::vector<std::string> texts;
    for (const auto& cell : cells) {
      std::string& text = texts.emplace_back();
      for (const std::string& word : words())
        if (cell.count(word)) text += (text.empty() ? "" : ", ") + word;
    }
    alike[texts].push_back(op);
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> ordered;   // operators, cells
  for (const auto& [texts, ops] : alike) {
    std::string names;
    for (const std::string& op : ops) names += (names.empty() ? "" : ", ") + op;
    ordered.emplace_back(names, texts);
  }
  std::sort(ordered.begin(), ordered.end());
  std::ostringstream out;
  out << "# Types by operator and device\n\n"
         "<!-- Written by backends_test (PrecisionTypes) with TENFOLD_WRITE_DOCS=1; the test compares. -->\n\n"
         "The types in which our own kernels compute the graph's operators, asked of them for their test cases. A type is that of the "
         "first operand; one in brackets is what f32 operands may be rounded to where the build permits it. What has no entry is "
         "rewritten by a pass into others, or is left to the reference kernels of the CPU. cuBLASLt, cuDNN and oneDNN are left out.\n\n"
         "| operators |";
  for (const Column& c : all) out << " " << c.title << " |";
  out << "\n|---|";
  for (std::size_t i = 0; i < all.size(); ++i) out << "---|";
  out << "\n";
  for (const auto& [names, texts] : ordered) {
    out << "| " << names << " |";
    for (const std::string& text : texts) out << " " << text << " |";
    out << "\n";
  }
  return out.str();
}

TEST(PrecisionTypes, ThePageSaysWhatTacticsTake) {
  const std::string path = TENFOLD_SOURCE_DIR "/docs/reference/precision-types.md", now = page();
  if (std::getenv("TENFOLD_WRITE_DOCS")) std::ofstream(path) << now;
  std::stringstream there;
  there << std::ifstream(path).rdbuf();
  EXPECT_TRUE(there.str() == now) << path << " is stale: TENFOLD_WRITE_DOCS=1 backends_test --gtest_filter='PrecisionTypes*' writes it";
}

}  // namespace
}  // namespace tenfold::backends
