// The model's names as bytes: what is written is read again, and bytes of an enemy end in a refusal.
#include "plan/names.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/check.h"
#include "plan/inspect.h"
#include "plan/read.h"
#include "plan/sample_plan_for_tests.h"
#include "plan/write.h"

namespace tenfold::plan {
namespace {

// One more node and tensor than steps, some with letters beyond ASCII, or none at all.
Names sample_names(const Plan& plan) {
  Names names;
  names.table.tensors = {"x", "", "/encoder/layer.0/attention/output_0", "/encoder/layer.0/attention/output_1", "\u00ff\u0100",
                         "w\n\x1b[2J"};
  names.table.nodes = {{"first", {0, 5}, {1, 2}}, {"\u00c3(", {}, {3}}, {"gone", {1, 2, 3, 4}, {}}};
  for (const Program& program : plan.programs) {
    ProgramNames& of = names.programs.emplace_back();
    each_step(program, [&](const Step& step) {
      StepNames& one = of.steps.emplace_back();
      one.nodes = {0, 1};
      for (std::size_t o = 0; o < step.in.size() + step.out.size(); ++o)
        one.operands.push_back({static_cast<std::int32_t>(o % 3), static_cast<std::int32_t>(3 + o % 3)});
    });
    of.removed = {{2, "fold_constants"}};
  }
  return names;
}
Plan named_plan() {
  Plan plan = sample_plan();
  plan.names = write_names(sample_names(plan));
  return plan;
}

TEST(PlanNames, ComeBackFromTheFile) {
  const Plan plan = named_plan();
  const std::string bytes = serialize(plan);
  const Plan read = load(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(read.names, plan.names);
  const Names names = read_names(read), expected = sample_names(plan);
  EXPECT_EQ(names.table.tensors, expected.table.tensors);
  ASSERT_EQ(names.table.nodes.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(names.table.nodes[n].name, expected.table.nodes[n].name);
    EXPECT_EQ(names.table.nodes[n].inputs, expected.table.nodes[n].inputs);
    EXPECT_EQ(names.table.nodes[n].outputs, expected.table.nodes[n].outputs);
  }
  for (std::size_t s = 0; s < expected.programs[0].steps.size(); ++s) {
    EXPECT_EQ(names.programs[0].steps[s].nodes, expected.programs[0].steps[s].nodes);
    EXPECT_EQ(names.programs[0].steps[s].operands, expected.programs[0].steps[s].operands);
  }
  EXPECT_EQ(names.programs[0].removed.at(0).by, "fold_constants");
  EXPECT_EQ(computed_text(read, read.programs[0].steps[0]), ", computes 'first', '\u00c3('");
}

TEST(PlanNames, ArePartOfEveryForm) {
  const Plan plan = named_plan();
  const PlanInspection data = inspect_data(plan);
  ASSERT_EQ(data.programs[0].nodes.size(), 3u);
  EXPECT_EQ(data.programs[0].nodes[2].removed_by, "fold_constants");
  EXPECT_EQ(data.programs[0].nodes[0].steps.size(), data.programs[0].steps.size());
  EXPECT_EQ(data.programs[0].tensors[2].step, 0);
  EXPECT_NE(inspect_text(plan).find("computes first"), std::string::npos);
  EXPECT_NE(inspect_text(plan).find("(fold_constants): gone"), std::string::npos);
  const auto json = nlohmann::json::parse(inspect_json(plan));   // throws where it is no UTF-8
  EXPECT_EQ(json["Layers"][0]["Metadata"].get<std::string>().substr(0, 19), "[ONNX Layer: first]");
  EXPECT_EQ(json["Removed"][0]["By"], "fold_constants");
}

TEST(PlanNames, PlansWithoutThemAreReadAsBefore) {
  const std::string bytes = serialize(sample_plan());
  const Plan read = load(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(read.names.empty());
  EXPECT_TRUE(inspect_data(read).programs[0].nodes.empty());
  EXPECT_EQ(inspect_text(read).find("computes"), std::string::npos);
}

// True: refused as a plan; false: read. Anything else fails.
bool refused(const std::string& names) {
  Plan plan = sample_plan();
  plan.names = names;
  const std::string bytes = serialize(plan);
  try {
    const Plan read = load(std::as_bytes(std::span(bytes)));
    inspect_text(read), inspect_data(read);
    EXPECT_TRUE(nlohmann::json::parse(inspect_json(read)).is_object());
    return false;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused) << e.what();
    return true;
  }
}

TEST(PlanNames, BytesOfAnEnemyAreRefused) {
  const std::string good = named_plan().names;
  EXPECT_FALSE(refused(good));
  for (std::size_t n = 1; n < good.size(); ++n) EXPECT_TRUE(refused(good.substr(0, n))) << n << " bytes of " << good.size();
  EXPECT_TRUE(refused(good + '\0'));
  const auto at_start = [](std::initializer_list<int> bytes) {
    std::string text;
    for (const int b : bytes) text.push_back(static_cast<char>(b));
    return text;
  };
  EXPECT_TRUE(refused(at_start({255, 255, 255, 255, 255, 255, 255, 255, 127})));        // 2^62 tensors
  EXPECT_TRUE(refused(at_start({255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})));   // a number of eleven bytes
  EXPECT_TRUE(refused(at_start({1, 0, 255, 255, 255, 255, 15})));                       // a name of 4 GiB
  EXPECT_TRUE(refused(at_start({1, 9, 1, 'x'})));                                       // in common with no name
  EXPECT_TRUE(refused(at_start({1, 0, 1, 'x', 1, 0, 1, 'n', 1, 1, 0})));                // reads tensor 1 of 1
  int read = 0;
  std::mt19937_64 random(1);
  for (int i = 0; i < 3'000; ++i) {
    std::string bytes = good;
    for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) bytes[random() % bytes.size()] = static_cast<char>(random());
    read += !refused(bytes);
  }
  EXPECT_GT(read, 20);   // letters of names may change
}

// Each name repeats all of a long one: it may not unfold to much more than the bytes there are.
TEST(PlanNames, DoNotUnfoldWithoutBound) {
  std::string bomb;
  const auto number = [&](std::uint64_t n) {
    for (; n >= 128; n >>= 7) bomb.push_back(static_cast<char>(n | 128));
    bomb.push_back(static_cast<char>(n));
  };
  constexpr std::uint64_t kLong = 100'000, kNames = 50'000;
  number(kNames + 1), number(0), number(kLong), bomb.append(kLong, 'x');
  for (std::uint64_t i = 0; i < kNames; ++i) number(kLong), number(0);
  EXPECT_TRUE(refused(bomb));
  Plan plan = sample_plan();   // written, such names take more bytes
  Names names = sample_names(plan);
  names.table.tensors.assign(6, std::string(5000, 'y'));
  plan.names = write_names(names);
  EXPECT_EQ(read_names(plan).table.tensors, names.table.tensors);
}

}  // namespace
}  // namespace tenfold::plan
