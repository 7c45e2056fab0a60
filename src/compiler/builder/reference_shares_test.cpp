// Steps on reference kernels: a build that times tells which share of a run each takes, and no other build runs the engine for it.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"

namespace tenfold::builder {
namespace {

// Unique has no kernel but the reference kernel.
constexpr const char* kSlow = R"((x f32[4096])
  u = Unique(x) name="slow"
  y = Relu(u) name="quick")";

std::vector<Note> notes_of(const BuildConfig& config) {
  std::vector<Note> notes;
  const Engine engine = build_graph(ir::parse_graph(kSlow, ir::Registry::builtin()), config);
  for (const Note& note : engine.info().notes)
    if (note.kind == NoteKind::reference_kernel) notes.push_back(note);
  return notes;
}

TEST(ReferenceShares, AreToldByABuildThatTimes) {
  std::string reported;
  BuildConfig config;
  config.device = "cpu", config.optimization_level = 1;
  config.log = [&](Severity severity, std::string_view text) {
    if (severity == Severity::warning && text.starts_with("reference kernels run on one thread")) reported = text;
  };
  const std::vector<Note> notes = notes_of(config);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].step, "slow");
  EXPECT_EQ(notes[0].severity, Severity::warning);   // it is most of the run
  EXPECT_NE(notes[0].text.find("on one thread it takes "), std::string::npos) << notes[0].text;
  EXPECT_NE(notes[0].text.find(" % of a run's time ("), std::string::npos) << notes[0].text;
  EXPECT_NE(reported.find(" % of a run's time: 'slow' "), std::string::npos) << reported;
}

TEST(ReferenceShares, AreNotMeasuredByOneThatDoesNot) {
  BuildConfig config;
  config.device = "cpu", config.optimization_level = 0;
  const std::vector<Note> notes = notes_of(config);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].text.find(", on one thread: it has no other"), std::string::npos) << notes[0].text;
  EXPECT_EQ(notes[0].text.find("of a run's time"), std::string::npos) << notes[0].text;
}

}  // namespace
}  // namespace tenfold::builder
