// The forms that a configuration takes: key of the plan cache, request to another process, lines of a plan. Stored plans and caches hold
// them, so they stay as they are, byte for byte: config_forms_golden.txt has them of the defaults, of each field that differs, and of all.
// A new field at its default changes none (builder/fields.h: key_if_set and so on). TENFOLD_WRITE_GOLDEN=FILE writes a text anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "background/build_request.h"
#include "base/check.h"
#include "base/files/hash.h"
#include "builder/options_text.h"
#include "builder/rebuild/kept_model.h"
#include "tenfold/plan_cache.h"

namespace tenfold::background {
namespace {

Tensor numbers(DType dtype, Shape shape) {
  Tensor t(dtype, std::move(shape));
  std::memset(t.mutable_raw(), 3, static_cast<std::size_t>(t.bytes()));
  return t;
}

struct Case {
  const char* name;
  void (*change)(BuildConfig& config);
};
// Each field of its own, so that two that changed places are seen, and some together.
const Case kCases[] = {
    {"names", [](BuildConfig& c) { c.overridable = {"a", "*"}, c.disabled_passes = {"fuse_norm", ""}, c.external_data_dirs = {"/w"}; }},
    {"profiles",
     [](BuildConfig& c) { c.profiles = {{{"x", {{1}, {2}, {4}}}, {"y", {{}, {}, {}}}}, {{"x", {{5}, {6}, {7}}}}}; }},
    {"formats",
     [](BuildConfig& c) {
       c.input_formats["x"] = {DType::u8, BindingOrder::hwc}, c.output_formats["y"] = {std::nullopt, BindingOrder::dhwc};
     }},
    {"tensors",
     [](BuildConfig& c) {
       c.input_defaults["b"] = numbers(DType::f64, {2, 3}), c.initializers["w"] = numbers(DType::f32, {3});
       c.typical_inputs = {{{"x", numbers(DType::i64, {4})}, {"s", Tensor::strings({2}, {"one", "two\n"})}}, {{"x", Tensor()}}};
     }},
    {"fp16", [](BuildConfig& c) { c.fp16 = true; }},
    {"bf16", [](BuildConfig& c) { c.bf16 = true; }},
    {"int8", [](BuildConfig& c) { c.int8 = false; }},
    {"fp8", [](BuildConfig& c) { c.fp8 = false; }},
    {"auto_precision", [](BuildConfig& c) { c.auto_precision = true; }},
    {"layer_types",
     [](BuildConfig& c) {
       c.layer_types = {LayerConstraints::obey, {{"a*", DType::f16}, {"b", DType::i8}}, {{"c", {DType::f32, DType::bf16}}}};
     }},
    {"check_overflow", [](BuildConfig& c) { c.check_overflow = false; }},
    {"tf32", [](BuildConfig& c) { c.tf32 = false; }},
    {"tf32_convolutions", [](BuildConfig& c) { c.tf32_convolutions = false; }},
    {"tf32_matmul", [](BuildConfig& c) { c.tf32_matmul = false; }},
    {"winograd", [](BuildConfig& c) { c.winograd = false; }},
    {"strassen", [](BuildConfig& c) { c.strassen = false; }},
    {"fast_exp", [](BuildConfig& c) { c.fast_exp = false; }},
    {"pack_tokens", [](BuildConfig& c) { c.pack_tokens = PackTokens::with_zeros; }},
    {"newest_row", [](BuildConfig& c) { c.newest_row = "x:1"; }},
    {"numbers",
     [](BuildConfig& c) {
       c.optimization_level = 5, c.max_tactics = 7, c.timing_repetitions = 9, c.tactic_sources = 1, c.workspace_bytes = 12345;
       c.cpu_features = 1, c.random_choices = 11, c.time_limit_s = 1.5;
     }},
    {"cache", [](BuildConfig& c) { c.timing_cache = "/times", c.error_on_cache_miss = true; }},
    {"portable", [](BuildConfig& c) { c.keep_portable_graph = false; }},
    {"version_compatible", [](BuildConfig& c) { c.version_compatible = true; }},
    {"hardware_compatible", [](BuildConfig& c) { c.hardware_compatible = true; }},
    {"refittable", [](BuildConfig& c) { c.refittable = true; }},
    {"pairs", [](BuildConfig& c) { c.forced_tactics = {{"Relu x", "reference"}, {"a", "b"}}, c.labels["who"] = "a test"; }},
};

std::string hex(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char two[8];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(bytes[i]));
    out += cat(i % 48 == 0 ? "\n" : "", two);
  }
  return out;
}

std::string behind(const std::string& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  check(at != std::string::npos, "no '", mark, "'");
  return text.substr(at);
}

// What depends on this machine and version stands in front of these, and is left out.
struct Forms {
  std::string key, words, kept, request;
};
// Fields that came later stand behind these in a request, with their defaults.
constexpr std::size_t kBytesOfDefaults = 246;

Forms forms_of(BuildConfig config, std::size_t later = 0) {
  const std::string model = "not looked at";
  const auto bytes = std::as_bytes(std::span(model));
  const BuildRequest request{.requester = 0, .key = {}, .path = {}, .library_places = {}, .library_files = {}, .plugin_libraries = {},
                             .config = config};
  Forms forms;
  const std::string head = head_of(request);
  forms.request = head.substr(head.find('\n') + 1);
  forms.request.resize(forms.request.size() - later);
  forms.words = builder::options_in_words(config);
  const ir::Graph graph(ir::Registry::builtin());
  forms.kept = builder::keep_model(graph, config, "m", "cpu", {}).text;
  config.cpu_features &= 1;   // no machine lacks AVX2
  forms.key = behind(plan_key(bytes, config), "\nthreads ");
  return forms;
}

// Those pieces of `text` between two `mark`s that `usual` has not.
std::string other_pieces(const std::string& text, const std::string& usual, char mark) {
  std::set<std::string> known;
  std::string piece, out;
  for (std::istringstream in(usual); std::getline(in, piece, mark);) known.insert(piece);
  for (std::istringstream in(text); std::getline(in, piece, mark);)
    if (!known.contains(piece)) out += cat(" | ", piece);
  return out;
}

std::string whole(const char* name, const Forms& f) {
  return cat("== ", name, "\nkey", f.key, "\nwords ", f.words, "\n", f.kept, "\nrequest", hex(f.request), "\n");
}
std::string changed(const char* name, const Forms& f, const Forms& usual) {
  const Hash128 hash = hash128(std::as_bytes(std::span(f.request)));
  return cat("== ", name, "\nkey", other_pieces(f.key, usual.key, '\n'), "\nwords", other_pieces(f.words, usual.words, ' '), "\nkept",
             other_pieces(f.kept, usual.kept, ' '), "\nrequest ", f.request.size(), " ", hash.high, " ", hash.low, "\n");
}

TEST(ConfigForms, StayAsTheyAre) {
  BuildConfig usual, all;
  usual.threads = all.threads = 3;
  const std::size_t later = forms_of(usual).request.size() - kBytesOfDefaults;
  const Forms forms = forms_of(usual, later);
  std::string got = whole("defaults", forms);
  for (const Case& one : kCases) {
    BuildConfig config = usual;
    one.change(config), one.change(all);
    got += changed(one.name, forms_of(config, later), forms);
  }
  got += whole("all of them", forms_of(all, later));
  if (const char* to = std::getenv("TENFOLD_WRITE_GOLDEN")) std::ofstream(to) << got;
  std::ifstream expected(TENFOLD_SOURCE_DIR "/src/serving/background/config_forms_golden.txt");
  std::string golden, line;
  for (std::istringstream lines(got); std::getline(lines, line);) {
    ASSERT_TRUE(std::getline(expected, golden)) << "one line more: " << line;
    EXPECT_EQ(line, golden);
  }
  EXPECT_FALSE(std::getline(expected, golden)) << "one line fewer: " << golden;
}

}  // namespace
}  // namespace tenfold::background
