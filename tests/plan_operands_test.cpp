// Plans whose operators lack operands: the verifier refuses each that an operator needs, and what it accepts runs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "case_plans.h"
#include "fuzz/plan_run.h"
#include "ir/signature.h"
#include "plan/verify.h"

namespace tenfold {
namespace {

using plan::Operand;

struct Place {
  std::size_t step, operand;
  bool result;
};
std::vector<Place> places(const plan::Program& program) {
  std::vector<Place> list;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    for (std::size_t i = 0; i < program.steps[s].in.size(); ++i) list.push_back({s, i, false});
    for (std::size_t i = 0; i < program.steps[s].out.size(); ++i) list.push_back({s, i, true});
  }
  return list;
}

// By the operator's own declaration: those that an epilogue reads, and all results, too.
bool is_needed(const plan::Step& step, const Place& place) {
  if (place.result || step.kind == plan::StepKind::copy) return true;
  const ir::OpDef& def = ir::Registry::builtin().get(step.op);
  const bool own = !step.has_body || def.traits.region || static_cast<int>(place.operand) < step.anchor_inputs;
  return !own || ir::is_required(def, static_cast<int>(place.operand));
}

struct Counts {
  int refused = 0, ran = 0, wrong = 0;
};

// One operand without a place, the rest of the plan as it was.
void try_without(const tests::CasePlan& made, const Place& place, std::shared_ptr<backends::Backend> cpu, Counts& counts) {
  plan::Plan plan = made.plan;
  plan::Step& step = plan.programs[0].steps[place.step];
  Operand& operand = (place.result ? step.out : step.in)[place.operand];
  if (operand.at.space == plan::Space::none) return;
  const bool needed = is_needed(step, place);
  operand = Operand{};   // as plans write it: no dims, no bytes
  std::string outcome = "it runs";
  bool right = !needed;
  try {
    plan::verify(plan, *cpu, ir::Registry::builtin());
    fuzz::run(std::move(plan), cpu);
    ++counts.ran;
  } catch (const Error& e) {
    outcome = e.what();
    right = needed ? e.kind() == ErrorKind::plan_refused : e.kind() != ErrorKind::internal;
    counts.refused += needed;
  }
  if (right) return;
  ++counts.wrong;
  std::fprintf(stderr, "%s: step %zu without %s %zu: %s\n", made.name.c_str(), place.step, place.result ? "result" : "operand",
               place.operand, outcome.c_str());
}

// In a process of its own: what reads an operand that is not there ends it.
Counts try_all(const tests::CasePlan& made) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::shared_ptr<backends::Backend> cpu = backends::open_backend("cpu");
    Counts counts;
    for (const Place& place : places(made.plan.programs[0])) try_without(made, place, cpu, counts);
    _exit(::write(ends[1], &counts, sizeof counts) == sizeof counts ? 0 : 1);
  }
  ::close(ends[1]);
  Counts counts;
  if (::read(ends[0], &counts, sizeof counts) != sizeof counts) counts = {};
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << made.name;
  return counts;
}

TEST(PlanOperands, WhatAnOperatorNeedsIsThere) {
  std::vector<std::string> left_out;
  Counts all;
  for (const tests::CasePlan& made : tests::case_plans(4, left_out)) {
    const Counts counts = try_all(made);
    all.refused += counts.refused, all.ran += counts.ran, all.wrong += counts.wrong;
  }
  std::string names;
  for (const std::string& name : left_out) names += name + " ";
  std::printf("%d refused, %d ran without an optional operand; no step of its own: %s\n", all.refused, all.ran, names.c_str());
  EXPECT_EQ(all.wrong, 0);
  EXPECT_GT(all.refused, 500);
  EXPECT_GT(all.ran, 20) << "optional operands may be left out";
  EXPECT_LT(left_out.size(), 60u) << names;
}

}  // namespace
}  // namespace tenfold
