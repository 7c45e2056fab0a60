// Looks at requests before they run, so that a wrong one harms none of its batch.
#include "tenfold/serving/request_groups.h"

#include <algorithm>

#include "served_model/impl.h"
#include "tenfold/internal/as_error.h"

namespace tenfold {

using namespace served_model;

namespace {

using Group = RequestGroup;

[[noreturn]] void refuse(std::string why) { throw Error(ErrorKind::invalid_argument, std::move(why)); }

std::size_t find(std::span<const BindingInfo> bindings, std::string_view name) {
  for (std::size_t i = 0; i < bindings.size() && bindings[i].is_input; ++i)
    if (bindings[i].name == name) return i;
  std::string known;
  for (const BindingInfo& b : bindings)
    if (b.is_input) known += (known.empty() ? "'" : ", '") + b.name + "'";
  refuse("there is no input '" + std::string(name) + "'; the model has " + (known.empty() ? "no inputs" : known));
}

void check_shape(const RequestInput& given, const BindingInfo& b) {
  bool fits = given.shape.size() == b.shape.size();
  for (std::size_t i = 0; fits && i < b.shape.size(); ++i)
    fits = b.shape[i] < 0 ? given.shape[i] >= 0 : given.shape[i] == b.shape[i];
  if (!fits)
    refuse("input '" + b.name + "' has the shape " + (given.shape.empty() ? "of a scalar" : text(given.shape)) +
           ", expected " + shape_of(b));
}

void check_bytes(const RequestInput& given, const BindingInfo& b) {
  const std::int64_t elements = element_count(given.shape);
  if (b.dtype == DType::string) {
    const std::size_t strings = given.strings ? given.strings->size() : 0;
    if (static_cast<std::int64_t>(strings) != elements)
      refuse("input '" + b.name + "' has " + std::to_string(strings) + " strings, expected " + std::to_string(elements));
    return;
  }
  std::size_t bytes = 0;
  for (const auto& piece : given.pieces) bytes += piece.size();
  const std::int64_t expected = byte_size(b.dtype, elements);
  if (static_cast<std::int64_t>(bytes) != expected)
    refuse("input '" + b.name + "' has " + std::to_string(bytes) + " bytes, expected " + std::to_string(expected) + " for " +
           std::string(name(b.dtype)) + "[" + text(given.shape) + "]");
}

bool same_but_for_rows(const CheckedRequest& a, const CheckedRequest& b) {
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    if (!a.inputs[i] != !b.inputs[i]) return false;
    if (a.inputs[i] && !std::equal(a.inputs[i]->shape.begin() + 1, a.inputs[i]->shape.end(),
                                   b.inputs[i]->shape.begin() + 1, b.inputs[i]->shape.end()))
      return false;
  }
  return true;
}

// Throws invalid_argument, which names the input, what was found and what is expected.
CheckedRequest check(ServedRequest& request, std::span<const BindingInfo> bindings, std::int64_t max_batch) {
  CheckedRequest checked;
  checked.request = &request;
  const auto first_output = std::find_if(bindings.begin(), bindings.end(), [](const BindingInfo& b) { return !b.is_input; });
  checked.inputs.resize(static_cast<std::size_t>(first_output - bindings.begin()));
  bool has_rows = false;
  for (const RequestInput& given : request.inputs()) {
    const std::size_t i = find(bindings, given.name);
    const BindingInfo& b = bindings[i];
    if (checked.inputs[i]) refuse("input '" + b.name + "' is given twice");
    if (given.dtype != b.dtype)
      refuse("input '" + b.name + "' has the type " + std::string(name(given.dtype)) + ", expected " + std::string(name(b.dtype)));
    check_shape(given, b);
    check_bytes(given, b);
    checked.inputs[i] = &given;
    if (max_batch <= 0) continue;
    if (has_rows && given.shape[0] != checked.rows)
      refuse("input '" + b.name + "' has " + std::to_string(given.shape[0]) + " rows, but another input has " +
             std::to_string(checked.rows));
    checked.rows = given.shape[0], has_rows = true;
  }
  for (std::size_t i = 0; i < checked.inputs.size(); ++i)
    if (!checked.inputs[i] && !bindings[i].has_default) refuse("input '" + bindings[i].name + "' is missing");
  if (max_batch > 0 && (checked.rows < 1 || checked.rows > max_batch))
    refuse("the request has " + std::to_string(checked.rows) + " rows, expected 1 to " + std::to_string(max_batch));
  return checked;
}

// In the order of the requests.
std::vector<Group> grouped(std::vector<CheckedRequest> requests, std::int64_t max_batch) {
  std::vector<Group> groups;
  std::vector<std::int64_t> rows;
  for (CheckedRequest& request : requests) {
    std::size_t at = groups.size();
    for (std::size_t g = 0; max_batch > 0 && g < groups.size() && at == groups.size(); ++g)
      if (rows[g] + request.rows <= max_batch && same_but_for_rows(groups[g][0], request)) at = g;
    if (at == groups.size()) groups.emplace_back(), rows.push_back(0);
    rows[at] += request.rows;
    groups[at].push_back(std::move(request));
  }
  return groups;
}

// Whether one request of a batch may be the cause, so that the others are worth another run.
bool may_be_one_requests(ErrorKind kind) {
  return kind == ErrorKind::invalid_argument || kind == ErrorKind::internal || kind == ErrorKind::invalid_model;
}

using RunGroup = std::function<BatchRun(const Group&)>;
void run_all(std::vector<Group> groups, const RunGroup& run, std::vector<BatchRun>* runs) {
  for (Group& group : groups) {
    try {
      const BatchRun done = as_error([&] { return run(group); });
      if (runs) runs->push_back(done);
    } catch (const Error& error) {
      if (group.size() > 1 && may_be_one_requests(error.kind())) {
        std::vector<Group> alone;
        for (CheckedRequest& request : group) alone.push_back({std::move(request)});
        run_all(std::move(alone), run, runs);
      } else {
        for (const CheckedRequest& request : group) request.request->finish({&error, nullptr});
      }
    }
  }
}

}  // namespace

ServedRequest::~ServedRequest() = default;

void run_in_groups(std::span<ServedRequest* const> requests, std::span<const BindingInfo> bindings, std::int64_t max_batch,
                   const std::function<BatchRun(const RequestGroup&)>& run, std::vector<BatchRun>* runs) noexcept {
  std::vector<CheckedRequest> checked;
  for (ServedRequest* request : requests) {
    try {
      as_error([&] {
        if (request->cancelled()) throw Error(ErrorKind::cancelled, "the client has left");
        checked.push_back(check(*request, bindings, max_batch));
      });
    } catch (const Error& error) {
      request->finish({&error, nullptr});
    }
  }
  run_all(grouped(std::move(checked), max_batch), run, runs);
}

}  // namespace tenfold
