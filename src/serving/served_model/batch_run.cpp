// One run: requests' tensors into one context, and its results back to the requests.
//
// Tensors are copied once: inputs into the context's own memory behind each other, outputs from there. For a request
// that runs alone on a CPU nothing is copied: the context reads and writes where the request has its memory. A run may have
// more rows than its requests: those are zeros, and what comes of them is left out.
#include <algorithm>
#include <cstring>

#include "served_model/instance.h"
#include "tenfold/bindings.h"

namespace tenfold::served_model {
namespace {

using Clock = std::chrono::steady_clock;

ErrorKind kind_of(Status::Code code) {
  switch (code) {
    case Status::out_of_memory: return ErrorKind::out_of_memory;
    case Status::device: return ErrorKind::device;
    case Status::cancelled: return ErrorKind::cancelled;
    default: return ErrorKind::invalid_argument;   // a shape, an index that values hold
  }
}

class GroupRun {
 public:
  GroupRun(const FileModel& model, UsedEngine& used, const RequestGroup& group, std::int64_t run_rows, bool on_gpu)
      : bindings_(model.bindings()), batched_(model.max_batch() > 0), used_(used), context_(*used.context), group_(group),
        in_place_(group.size() == 1 && !on_gpu), run_rows_(run_rows), written_(bindings_.size()), failures_(group.size()) {
    for (const CheckedRequest& request : group) rows_ += request.rows;
  }

  // The shape of an input in this run.
  Shape input_shape(std::size_t binding) const {
    const RequestInput* first = group_[0].inputs[binding];
    if (!first) return bindings_[binding].shape;
    Shape shape(first->shape.begin(), first->shape.end());
    if (batched_) shape[0] = run_rows_;
    return shape;
  }

  void bind_inputs() {
    for (std::size_t i = 0; i < group_[0].inputs.size(); ++i) {
      const int binding = static_cast<int>(i);
      if (bindings_[i].dtype == DType::string) {
        bind_strings(i);
        continue;
      }
      if (group_[0].inputs[i] || !bindings_[i].has_default) must(context_.set_input_shape(binding, input_shape(i)));
      bind_numbers(i);
    }
  }

  // Lets the run write where the requests want it, if that can be known before.
  void bind_outputs() {
    if (used_.sized_by_data.empty())   // before the first run, while they show it
      for (std::size_t i = 0; i < bindings_.size(); ++i) used_.sized_by_data.push_back(is_sized_by_data(i));
    for (std::size_t i = group_[0].inputs.size(); i < bindings_.size(); ++i) {
      const int binding = static_cast<int>(i);
      if (bindings_[i].dtype == DType::string) continue;
      Shape shape;
      if (in_place_ && !used_.sized_by_data[i] && group_[0].request->requests_output(binding)) shape = context_.shape(binding);
      const bool known = !shape.empty() && std::all_of(shape.begin(), shape.end(), [](std::int64_t e) { return e > 0; });
      if (!known) {
        own(binding);
        continue;
      }
      check_rows(bindings_[i], shape);
      const std::int64_t bytes = byte_size(bindings_[i].dtype, element_count(shape));
      must(context_.bind(binding, group_[0].request->output_memory(binding, shape, bytes), bytes));
      written_[i] = true;
    }
  }

  BatchRun run() {
    BatchRun run{static_cast<int>(group_.size()), rows_, start_, Clock::now(), {}, {}};
    if (group_.size() == 1) must(context_.run_with({.token = group_[0].request->cancel_token(), .deadline = {}}));
    else must(context_.run());
    run.compute_end = Clock::now();
    return run;
  }

  void give_outputs() {
    for (std::size_t i = group_[0].inputs.size(); i < bindings_.size(); ++i)
      if (!written_[i]) give_output(static_cast<int>(i));
  }

  void finish(const BatchRun& run) {
    for (std::size_t r = 0; r < group_.size(); ++r)
      group_[r].request->finish({failures_[r] ? &*failures_[r] : nullptr, &run});
  }

 private:
  void must(Status status) const {
    if (!status) throw Error(kind_of(status.code), context_.describe(status));
  }
  std::byte* own(int binding) {
    void* memory = context_.own_memory(binding);
    must(context_.bind(binding, nullptr, 0));
    return static_cast<std::byte*>(memory);
  }

  bool is_sized_by_data(std::size_t i) const {
    if (bindings_[i].is_input || bindings_[i].dtype == DType::string) return false;
    const Shape shape = context_.shape(static_cast<int>(i));
    return std::any_of(shape.begin(), shape.end(), [](std::int64_t e) { return e < 0; });
  }

  static void copy(const RequestInput& input, std::byte*& to) {
    for (const auto& piece : input.pieces) {
      if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
      to += piece.size();
    }
  }

  void bind_numbers(std::size_t i) {
    const int binding = static_cast<int>(i);
    const RequestInput* first = group_[0].inputs[i];
    if (first && in_place_ && first->pieces.size() == 1 && !first->pieces[0].empty()) {
      const auto piece = first->pieces[0];   // which the run only reads
      must(context_.bind(binding, const_cast<std::byte*>(piece.data()), static_cast<std::int64_t>(piece.size())));
      return;
    }
    if (!first || !bindings_[i].has_default) {
      std::byte* const memory = own(binding);
      std::byte* to = memory;
      for (const CheckedRequest& request : group_)
        if (request.inputs[i]) copy(*request.inputs[i], to);
      if (run_rows_ > rows_)
        std::fill(to, memory + byte_size(bindings_[i].dtype, element_count(input_shape(i))), std::byte{0});
      return;
    }
    // The context's own memory holds the default for the next request.
    std::vector<std::byte>& memory = used_.given[i];
    const std::int64_t bytes = byte_size(bindings_[i].dtype, element_count(input_shape(i)));
    memory.resize(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
    std::byte* to = memory.data();
    for (const CheckedRequest& request : group_) copy(*request.inputs[i], to);
    must(context_.bind(binding, memory.data(), bytes));
  }

  void bind_strings(std::size_t i) {
    std::vector<std::string> all;
    for (const CheckedRequest& request : group_)
      all.insert(all.end(), request.inputs[i]->strings->begin(), request.inputs[i]->strings->end());
    must(bind_value(context_, static_cast<int>(i), RuntimeValue(Tensor::strings(input_shape(i), std::move(all)))));
  }

  // Also where the request is alone: whether it works must not depend on others.
  void check_rows(const BindingInfo& output, const Shape& shape) const {
    if (batched_ && (shape.empty() || shape[0] != run_rows_))
      throw Error(ErrorKind::unsupported, "output '" + output.name + "' has the shape " + text(shape) + " for a batch of " +
                                              std::to_string(run_rows_) + " rows, so it cannot be divided among requests: configure a " +
                                              "batch size of 0");
  }

  void give_output(int binding) {
    const BindingInfo& info = bindings_[static_cast<std::size_t>(binding)];
    const bool strings = info.dtype == DType::string;
    const RuntimeValue value = strings ? bound_value(context_, binding) : RuntimeValue();
    const Shape shape = strings ? value.tensor().shape() : context_.shape(binding);
    check_rows(info, shape);
    const std::byte* from = strings ? nullptr : static_cast<const std::byte*>(context_.own_memory(binding));
    std::size_t done = 0;
    for (std::size_t r = 0; r < group_.size(); ++r) {
      Shape part = shape;
      if (batched_) part[0] = group_[r].rows;
      const auto elements = static_cast<std::size_t>(element_count(part));
      try {
        if (!failures_[r] && group_[r].request->requests_output(binding)) {
          if (strings)
            group_[r].request->take_strings(binding, part, std::span(value.tensor().string_values()).subspan(done, elements));
          else
            give_bytes(r, binding, part, from, byte_size(info.dtype, static_cast<std::int64_t>(done)));
        }
      } catch (const Error& error) {
        failures_[r] = error;
      }
      done += elements;
    }
  }

  void give_bytes(std::size_t r, int binding, const Shape& shape, const std::byte* from, std::int64_t at) {
    const std::int64_t bytes = byte_size(bindings_[static_cast<std::size_t>(binding)].dtype, element_count(shape));
    void* to = group_[r].request->output_memory(binding, shape, bytes);
    if (bytes > 0) std::memcpy(to, from + at, static_cast<std::size_t>(bytes));
  }

  const std::vector<BindingInfo>& bindings_;
  const bool batched_;
  UsedEngine& used_;
  ExecutionContext& context_;
  const RequestGroup& group_;
  const bool in_place_;
  const std::int64_t run_rows_;                      // with those that are zeros
  const Clock::time_point start_ = Clock::now();
  std::vector<bool> written_;                        // outputs that the run wrote where they belong
  std::vector<std::optional<Error>> failures_;       // of requests that could not take an output
  std::int64_t rows_ = 0;
};

}  // namespace

BatchRun run_batch(const FileModel& model, UsedEngine& used, const RequestGroup& group, std::int64_t run_rows, bool on_gpu) {
  GroupRun run(model, used, group, run_rows, on_gpu);
  run.bind_inputs();
  run.bind_outputs();
  BatchRun done = run.run();
  run.give_outputs();
  done.end = std::chrono::steady_clock::now();
  run.finish(done);
  return done;
}

}  // namespace tenfold::served_model
