// What a plan keeps of its build: the model's hash, the options, the clocks; and the note where clocks have changed.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "builder/builder.h"
#include "builder/options_text.h"
#include "plan/read.h"
#include "plan/write.h"
#include "runtime/engine/notes.h"
#include "runtime/engine/opened.h"
#include "tenfold/inspect.h"

namespace tenfold {
namespace {

constexpr const char* kModel = TENFOLD_SOURCE_DIR "/tests/install/relu.onnx";

BuildConfig at_level(int level) {
  BuildConfig config;
  config.threads = 1, config.optimization_level = level;
  return config;
}
const plan::Built& built(const Engine& engine) { return runtime::state_of(engine)->plan.built; }

std::vector<Note> clock_notes(plan::Plan plan, LogCallback log = {}) {
  const std::string bytes = plan::serialize(plan);
  LoadOptions options;
  options.log = std::move(log);
  std::vector<Note> notes;
  const Engine engine = Engine::load(std::as_bytes(std::span(bytes)), options);
  for (const Note& note : engine.info().notes)
    if (note.kind == NoteKind::clocks) notes.push_back(note);
  return notes;
}

TEST(BuiltFrom, TheHashIsThatOfTheFilesBytes) {
  const auto file = MappedFile::read(kModel);
  const Engine engine = build_file(kModel, at_level(0));
  EXPECT_EQ(built(engine).model_hash, builder::hash_of(file->bytes()));
  EXPECT_EQ(built(engine).model_hash.rfind(std::to_string(std::filesystem::file_size(kModel)) + ":", 0), 0u);
  std::vector<std::byte> bytes(file->bytes().begin(), file->bytes().end());
  EXPECT_EQ(built(build_bytes(bytes, at_level(0))).model_hash, built(engine).model_hash);
  bytes[0] ^= std::byte{1};
  EXPECT_NE(builder::hash_of(bytes), built(engine).model_hash);
  EXPECT_EQ(builder::hash_of({}).substr(0, 18), "0:2d06800538d394c2") << "XXH3 of nothing, as its authors have it";
}

TEST(BuiltFrom, OptionsAreKeptThroughSavingAndTold) {
  BuildConfig config = at_level(0);
  config.tf32 = false;
  const Engine engine = build_file(kModel, config);
  const std::string bytes = plan::serialize(runtime::state_of(engine)->plan);
  const Engine loaded = Engine::load(std::as_bytes(std::span(bytes)));
  for (const char* part : {"tf32=0", "level=0", "threads=1"})
    EXPECT_NE(loaded.inspection().build_options.find(part), std::string::npos) << loaded.inspection().build_options;
  EXPECT_NE(loaded.inspect(-1).find("no tf32, optimization level 0, threads 1\n"), std::string::npos) << loaded.inspect(-1);
  EXPECT_EQ(loaded.inspection().model_hash, built(engine).model_hash);
  const auto summary = nlohmann::json::parse(loaded.inspect_json())["Summary"];
  EXPECT_EQ(summary["ModelHash"], built(engine).model_hash);
  EXPECT_EQ(summary["BuildOptions"], built(engine).options);
}

// At level 0 nothing is timed, so there is no clock to keep.
TEST(BuiltFrom, ClocksAreThoseOfTheTiming) {
  EXPECT_TRUE(built(build_file(kModel, at_level(0))).clocks.empty());
  const Engine timed = build_file(kModel, at_level(2));
  ASSERT_EQ(built(timed).clocks.size(), 1u);
  EXPECT_EQ(built(timed).clocks[0].of, "processor");
  EXPECT_GT(built(timed).clocks[0].khz, 200'000);
  EXPECT_LT(built(timed).clocks[0].khz, 8'000'000);
  EXPECT_EQ(timed.inspection().clocks.at(0).khz, built(timed).clocks[0].khz);
  EXPECT_EQ(nlohmann::json::parse(timed.inspect_json())["Summary"]["ClocksKhz"]["processor"], built(timed).clocks[0].khz);
  EXPECT_NE(timed.inspect(-1).find("timed    with processor at "), std::string::npos) << timed.inspect(-1);
}

TEST(BuiltFrom, ClocksApartByATenthAreNoted) {
  const Engine engine = build_file(kModel, at_level(0));
  auto state = std::make_shared<runtime::EngineState>();
  const auto notes_at = [&](std::int64_t then, std::int64_t now) {
    state->plan.built.clocks = {{"processor", then}};
    state->info.notes.clear();
    const std::vector<backends::Clock> clocks{{"GPU", 1}, {"processor", now}};
    runtime::note_clocks(*state, clocks);
    return state->info.notes.size();
  };
  EXPECT_EQ(notes_at(3'000'000, 3'290'000), 0u);
  EXPECT_EQ(notes_at(3'000'000, 3'310'000), 1u);
  EXPECT_EQ(notes_at(3'000'000, 2'690'000), 1u);
  EXPECT_EQ(state->info.notes[0].text.find("the plan was timed with the processor at 3.00 GHz, which runs at 2.69 GHz now"), 0u);

  plan::Plan plan = runtime::state_of(engine)->plan;
  EXPECT_TRUE(clock_notes(plan).empty()) << "nothing was timed";
  plan.built.clocks = {{"processor", 50'000'000}};   // no processor's
  std::string reported;
  const std::vector<Note> notes = clock_notes(plan, [&](Severity, std::string_view text) { reported += text; });
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].severity, Severity::info);
  EXPECT_NE(reported.find("50.00 GHz"), std::string::npos) << reported;
}

}  // namespace
}  // namespace tenfold
