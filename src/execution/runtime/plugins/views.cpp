// Filling the structs that plug-ins read.
#include "runtime/plugins/views.h"

#include <algorithm>

#include "ops/elements.h"
#include "ops/onnx_dtype.h"

namespace tenfold::runtime {
namespace {

std::int32_t number(DType dtype) { return static_cast<std::int32_t>(ops::onnx_number(dtype)); }

}  // namespace

AttributeViews::AttributeViews(ir::Attributes attributes, const std::vector<std::string>& names) : attributes_(std::move(attributes)) {
  for (const std::string& requested : names) {
    const auto held = std::find_if(attributes_.begin(), attributes_.end(), [&](const auto& a) { return a.first == requested; });
    if (held == attributes_.end()) continue;
    const auto& [name, value] = *held;
    tenfold_plugin_attribute view{};
    view.name = name.c_str(), view.kind = static_cast<std::int32_t>(value.index()), view.count = 1;
    const auto many = [&](const auto& list) {
      return view.count = static_cast<std::int32_t>(list.size()), list.data();
    };
    const auto texts = [&](const auto* first, std::size_t count) {
      std::vector<const char*>& list = texts_.emplace_back();
      for (std::size_t i = 0; i < count; ++i) list.push_back(first[i].c_str());
      view.count = static_cast<std::int32_t>(count), view.strings = list.data();
    };
    if (const auto* i = std::get_if<std::int64_t>(&value)) view.ints = i;
    if (const auto* f = std::get_if<float>(&value)) view.floats = f;
    if (const auto* s = std::get_if<std::string>(&value)) texts(s, 1);
    if (const auto* list = std::get_if<ir::Ints>(&value)) view.ints = many(*list);
    if (const auto* list = std::get_if<ir::Floats>(&value)) view.floats = many(*list);
    if (const auto* list = std::get_if<ir::Strings>(&value)) texts(list->data(), list->size());
    if (const auto* t = std::get_if<Tensor>(&value)) {
      const Shape& strides = strides_.emplace_back(ops::row_major_strides(t->shape()));
      view.tensor = &tensors_.emplace_back(tenfold_plugin_tensor{
          number(t->dtype()), t->rank(), t->shape().data(), strides.data(), const_cast<void*>(t->raw()), nullptr, {}});
    }
    views_.push_back(view);
  }
}

const char* TypeViews::keep(ir::Dim dim) { return texts_.emplace_back(dim.text()).c_str(); }

TypeViews::TypeViews(const std::vector<PluginOperandType>& types, const ir::SymbolBounds& box) {
  for (const PluginOperandType& type : types) {
    tenfold_plugin_type view{};
    if (!type.missing) {
      view.dtype = number(type.dtype), view.rank = static_cast<std::int32_t>(type.dims.size());
      std::vector<const char*>& dims = lists_.emplace_back();
      Shape &min = bounds_.emplace_back(), &max = bounds_.emplace_back();
      for (ir::Dim d : type.dims) {
        const ir::Interval bounds = d.bounds(box);
        dims.push_back(keep(d)), min.push_back(bounds.lower), max.push_back(bounds.upper);
      }
      view.dims = dims.data(), view.min = min.data(), view.max = max.data();
      if (type.contents) {
        std::vector<const char*>& contents = lists_.emplace_back();
        for (ir::Dim d : *type.contents) contents.push_back(keep(d));
        view.contents = contents.data(), view.content_count = static_cast<std::int64_t>(contents.size());
      }
      view.layout = type.layout == backends::kChannelsLast ? TENFOLD_LAYOUT_CHANNELS_LAST : TENFOLD_LAYOUT_PLAIN;
      view.is_constant = type.constant;
    }
    views_.push_back(view);
  }
}

}  // namespace tenfold::runtime
