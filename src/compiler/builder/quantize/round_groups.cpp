#include "tenfold/internal/round_groups.h"

#include "base/threads/spread.h"
#include "quant/weights/groups.h"

namespace tenfold {

namespace {

quant::Columns columns_of(std::span<const float> columns, std::int64_t rows) {
  return {rows, static_cast<std::int64_t>(columns.size()) / rows, {columns.begin(), columns.end()}};
}

quant::GroupForm form_of(const RoundingForm& form) {
  return {.bits = form.bits, .group = form.group, .around_zero = true, .scales = form.scales};
}

RoundedColumns rounded(quant::GroupedWeights&& q) { return {std::move(q.values), std::move(q.scales)}; }

}  // namespace

DataMoments::DataMoments(std::int64_t size) : moments_(std::make_shared<quant::Moments>(size)) {}
DataMoments::DataMoments(std::shared_ptr<quant::Moments> moments) : moments_(std::move(moments)) {}

void DataMoments::add(const float* rows, std::int64_t count) {
  const MaySpread may;
  moments_->add(rows, count);
}
std::int64_t DataMoments::size() const { return moments_->size(); }
double DataMoments::own(std::int64_t i) const { return static_cast<double>(moments_->of_group(0)[i * size() + i]); }
DataMoments DataMoments::divided(const std::vector<float>& by) const {
  return DataMoments(std::make_shared<quant::Moments>(moments_->divided(by)));
}
double DataMoments::squares(std::span<const float> columns) const {
  const MaySpread may;
  return moments_->squares(columns);
}

RoundedColumns round_columns_to_nearest(std::span<const float> columns, const DataMoments& moments, const RoundingForm& form) {
  const MaySpread may;
  std::vector<double> importance;
  for (std::int64_t i = 0; i < moments.size(); ++i) importance.push_back(moments.own(i));
  return rounded(quant::round_to_nearest(columns_of(columns, moments.size()), form_of(form), importance));
}

RoundedColumns round_columns_by_gptq(std::span<const float> columns, const DataMoments& moments, const RoundingForm& form) {
  const MaySpread may;
  return rounded(quant::round_by_gptq(columns_of(columns, moments.size()), moments.all(), form_of(form)));
}

}  // namespace tenfold
