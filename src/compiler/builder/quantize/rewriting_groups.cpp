// Weights alone: rounded to the nearest, and where there are samples by GPTQ and by AWQ; what is nearest to the model in floats is taken.
#include <tuple>
#include <utility>

#include "base/check.h"
#include "builder/budget/judge.h"
#include "builder/model/profiles.h"
#include "builder/quantize/group_edits.h"
#include "builder/quantize/gemm_row_stats.h"
#include "builder/quantize/rewriting.h"
#include "ir/finite.h"

namespace tenfold::builder {
namespace {

constexpr int kTried = 8;          // samples on which the ways are compared
constexpr double kAwqGain = 0.95;  // it puts a multiplication in front of products, and has to lessen the error by so much

quant::GroupForm form_of(const QuantizeOptions& options) {
  quant::GroupForm form{.bits = options.type == QuantizeType::nbits8 ? 8 : 4, .group = options.group};
  form.around_zero = options.type == QuantizeType::int4 && options.reader == QuantizeFor::any;
  return form;
}

void expect_group(const QuantizeOptions& options) {
  const std::int64_t g = options.group;
  if (options.type == QuantizeType::int4)
    return require(g >= 2, ErrorKind::invalid_argument, "a group of ", g, " weights: at least 2 share a scale");
  require(g >= 16 && g <= 1 << 28 && (g & (g - 1)) == 0, ErrorKind::invalid_argument, "a group of ", g,
          " weights: MatMulNBits takes powers of two from 16 on");
}

// Of one or more products.
struct Weights {
  const ir::Value* value = nullptr;
  bool transposed = false;
  std::string data;   // whose moments they are rounded by
  quant::GroupedWeights nearest, by_gptq, by_awq;  // the last two only of data that were seen

  std::int64_t rows() const { return value->constant->tensor.shape()[transposed ? 1 : 0]; }
  std::int64_t columns() const { return value->constant->tensor.shape()[transposed ? 0 : 1]; }
  quant::Columns floats() const {
    quant::Columns c{rows(), columns(), {}};
    c.values.resize(static_cast<std::size_t>(c.rows * c.columns));
    const auto* const from = value->constant->tensor.data<float>();
    for (std::int64_t i = 0; i < c.rows * c.columns; ++i)
      c.values[static_cast<std::size_t>(transposed ? i : i % c.columns * c.rows + i / c.columns)] = from[i];
    return c;
  }
};

class WithGroups : public Rewriting {
 public:
  WithGroups(const FileSource& source, const Places& excluded, const EngineOf& engine_of, CalibrationReport& report)
      : source_(source), form_(form_of(source.options)), nbits_(source.options.type != QuantizeType::int4) {
    expect_group(source.options);
    find_products(excluded);
    for (Weights& w : weights_) w.nearest = round_to_nearest(w.floats(), form_);
    report.method = "nearest";
    if (source.config.calibration && source.config.calibration->sample && !weights_.empty()) try_moments(engine_of, report);
  }

  FileEdits edits(const Places& in_floats) const override {
    GroupEditor editor(source_.model);
    for (const auto& [place, index] : products_) {
      if (in_floats.count(place)) continue;
      const FileGroups groups = groups_of(weights_[index]);
      if (nbits_) editor.replace_by_nbits(place, groups);
      else editor.dequantize(place, groups);
    }
    FileEdits made = editor.finish(source_.keeps_weights);
    raise_versions(source_.model, source_.options.type, made);
    return made;
  }
  WhyLeft why_left() const override { return why_left_; }

 private:
  enum class Way { nearest, gptq, awq };

  FileGroups groups_of(const Weights& w) const {
    FileGroups groups{w.transposed, form_, &w.nearest};
    if (way_ == Way::nearest || w.by_gptq.rows == 0) return groups;
    groups.weights = way_ == Way::gptq ? &w.by_gptq : &w.by_awq;
    if (way_ == Way::awq) groups.factors = &factors_.at(w.data);
    return groups;
  }

  void find_products(const Places& excluded) {
    std::map<std::pair<const ir::Value*, bool>, std::size_t> known;
    for (const auto& node : source_.graph.nodes()) {
      const auto place = quant::is_product(*node) ? source_.nodes.place_of(*node) : std::nullopt;
      if (!place || excluded.count(*place)) continue;
      if (std::string why = why_not(*node); !why.empty()) {
        why_left_[*place] = std::move(why);
        continue;
      }
      const bool transposed = node->op() == "Gemm" && node->attributes.integer("transB", 0) != 0;
      const auto [at, added] = known.try_emplace({node->in(1), transposed}, weights_.size());
      if (added) weights_.push_back({node->in(1), transposed, data_of(*node), {}, {}, {}});
      products_[*place] = at->second;
    }
  }

  std::string why_not(const ir::Node& node) const {
    if (std::string why = quant::why_wide(node); !why.empty()) return why;
    if (node.op() == "Conv" || (nbits_ && node.op() == "Gemm"))
      return nbits_ ? "MatMulNBits stands for MatMul alone" : "weights of 4 bits are for MatMul and Gemm";
    const Tensor& w = node.in(1)->constant->tensor;
    if (w.rank() != 2) return "their weights are no matrix";
    if (!ir::all_finite(w)) return "their weights hold NaN or infinity";
    const bool transposed = node.op() == "Gemm" && node.attributes.integer("transB", 0) != 0;
    const std::int64_t rows = w.shape()[transposed ? 1 : 0];
    return rows % form_.group == 0 ? "" : cat("groups of ", form_.group, " do not divide columns of ", rows);
  }

  // A Gemm may read its data transposed; then nobody sees them as rows.
  static std::string data_of(const ir::Node& node) {
    if (node.op() == "Gemm" && node.attributes.integer("transA", 0)) return "";
    return node.in(0)->name;
  }

  void try_moments(const EngineOf& engine_of, CalibrationReport& report) {
    std::map<std::string, std::int64_t> sizes;
    for (const Weights& w : weights_)
      if (!w.data.empty()) sizes[w.data] = w.rows();
    ir::Graph runnable = source_.graph.clone();
    specialize(runnable, source_.ranges);
    for (const auto& [data, size] : sizes) factors_[data];  // threads fill it
    report.samples = each_moments(runnable, source_.ranges, source_.config, sizes, [&](const std::string& data, const quant::Moments& m) {
      factors_.at(data) = quant::awq_factors(m);
      for (Weights& w : weights_)
        if (w.data == data && w.rows() == m.size())
          w.by_gptq = round_by_gptq(w.floats(), m, form_), w.by_awq = round_by_awq(w.floats(), m, form_);
    });
    require(report.samples > 0, ErrorKind::invalid_argument, "the calibration's data gave no sample");
    BuildConfig judged = source_.config;
    judged.budget = ErrorBudget{.max_error = 1};   // so that a share of it is the error
    const Judge judge(source_.graph, judged, 0, kTried);
    const auto error = [&] { return judge.judge(engine_of(edits({}).edits)).share; };
    double best = error();
    for (const auto& [way, name, gain] : {std::tuple{Way::gptq, "gptq", 1.0}, std::tuple{Way::awq, "awq", kAwqGain}}) {
      const Way before = std::exchange(way_, way);
      const double after = error();
      report.corrections.push_back({name, best, after, after < gain * best});
      if (report.corrections.back().kept)
        best = after, report.method = name;
      else
        way_ = before;
    }
  }

  const FileSource& source_;
  const quant::GroupForm form_;
  const bool nbits_;
  std::vector<Weights> weights_;
  std::map<std::size_t, std::size_t> products_;   // by place: which weights
  WhyLeft why_left_;
  std::map<std::string, std::vector<float>> factors_;  // of AWQ, by the data
  Way way_ = Way::nearest;
};

}  // namespace

std::unique_ptr<Rewriting> with_groups(const FileSource& source, const Places& excluded, const EngineOf& engine_of,
                                       CalibrationReport& report) {
  return std::make_unique<WithGroups>(source, excluded, engine_of, report);
}

}  // namespace tenfold::builder
