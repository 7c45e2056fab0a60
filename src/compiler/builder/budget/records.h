// What searches within error budgets found out before, beside the timing cache: errors and times of finished plans, errors of single
// layers, ranges, and which plan was taken. With them the same search ends with the same plan, and soon.
#pragma once

#include <optional>

#include "builder/budget/layers.h"
#include "builder/precision/overflow_cache.h"
#include "builder/budget/findings.h"
#include "builder/budget/judge.h"

namespace tenfold::builder {

// Which configuration a plan is built by.
struct Recipe {
  enum Kind : std::uint8_t { everything, no_bytes, floats, exact_floats, unfused, untuned };
  Kind kind = everything;                  // all that is permitted; without 8 bits; f32; f32 without rounding; f32 at level 0
  std::vector<LayerPrecision> layers = {}; // besides, of single layers
};
// A plan that was taken: how to build it, what its bytes were, and what the search told.
struct Remembered {
  Recipe recipe;
  Hash128 plan;
  BudgetReport report;
};

class BudgetRecords {
 public:
  // Samples are asked for, all of them, if there is a timing cache or not: their number is known then.
  BudgetRecords(const ir::Graph& source, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                const backends::DeviceInfo& device);
  int samples() const { return samples_; }     // in all
  bool used() const { return file_.used(); }

  static Hash128 hash_of(const Engine& engine);   // of its plan's bytes
  std::optional<Judged> error(const Hash128& plan) const;
  void add_error(const Hash128& plan, const Judged& error) const;
  std::optional<double> milliseconds(const Hash128& plan) const;
  void add_milliseconds(const Hash128& plan, double milliseconds) const;
  bool find_alone(Layers& layers) const;          // Layer::error; false: not all of it is there
  void add_alone(const Layers& layers) const;
  bool find_ranges(Findings& findings) const;
  void add_ranges(const Findings& findings) const;
  std::optional<Remembered> taken() const;
  void add_taken(const Remembered& taken) const;

 private:
  RecordFile file_of_ranges() const;
  Hash128 key(std::string_view what, std::string_view rest = "") const;

  const BuildConfig& config_;
  Log log_;
  RecordFile file_;
  int samples_ = 0;
  std::string base_, calibration_, budget_;       // parts of keys
};

}  // namespace tenfold::builder
