// Reading and writing the refit section.
#include "plan/refit_section.h"

#include "base/checked.h"
#include "plan/fields.h"
#include "plan/format.h"

namespace tenfold::plan {
namespace {

struct TensorPlace {
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t offset = 0;
};
template <class A>
void fields(A& a, TensorPlace& x) {
  auto& [dtype, shape, offset] = x;
  a(dtype, shape, offset);
}

constexpr std::int64_t kAlignment = static_cast<std::int64_t>(kConstantAlignment);

}  // namespace

RefitBytes write_refit(const Refit& refit) {
  RefitBytes out;
  std::vector<TensorPlace> places;
  for (const Tensor& t : refit.tensors) {
    places.push_back({t.dtype(), t.shape(), round_up(static_cast<std::int64_t>(out.tensors.size()), kAlignment)});
    out.tensors.resize(static_cast<std::size_t>(places.back().offset));
    out.tensors.append(static_cast<const char*>(t.raw()), static_cast<std::size_t>(t.bytes()));
  }
  Writer writer;
  auto& [weights, recipes, results, tensors] = const_cast<Refit&>(refit);   // as in write.cpp: a Writer changes nothing
  (void)tensors;
  writer(weights, recipes, results, places);
  out.table = std::move(writer.bytes);
  return out;
}

Refit read_refit(std::span<const std::byte> table, std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                 const Plan& plan) {
  Refit refit;
  std::vector<TensorPlace> places;
  Reader reader(table);
  reader(refit.weights, refit.recipes, refit.results, places);
  reader.finish();
  const auto size = static_cast<std::int64_t>(bytes.size());
  for (const TensorPlace& p : places) {
    const std::int64_t needed = byte_size(p.dtype, element_count(p.shape));
    if (p.dtype == DType::string || p.offset < 0 || p.offset % kAlignment != 0 || p.offset > size || needed > size - p.offset)
      reader.refuse("a tensor for refits does not lie in its section");
    const Tensor borrowed(p.dtype, p.shape, owner, bytes.data() + p.offset);
    refit.tensors.push_back(owner ? borrowed : borrowed.clone());
  }
  for (const RefitWeight& w : refit.weights) {
    if (w.original < 0) continue;
    if (static_cast<std::size_t>(w.original) >= refit.tensors.size()) reader.refuse("weight '", w.name, "' has no tensor ", w.original);
    const Tensor& t = refit.tensors[static_cast<std::size_t>(w.original)];
    if (t.dtype() != w.dtype || t.shape() != w.shape) reader.refuse("the tensor of weight '", w.name, "' has another type");
  }
  for (const std::int32_t c : refit.results)
    if (c < 0 || static_cast<std::size_t>(c) >= plan.constants.size()) reader.refuse("a recipe makes constant ", c);
  return refit;
}

}  // namespace tenfold::plan
