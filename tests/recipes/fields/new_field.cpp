// The sample row of CONTRIBUTING.md's recipe for an option of a build, as one more row of tenfold/build_fields.h: what follows from it.
// Compiled only, with readers of the table (cmake/tests.cmake): the libraries do not know the row.
#include <cstddef>
#include <type_traits>

#include "builder/fields.h"
#include "tenfold/build.h"
#include "tenfold/c/build.h"

namespace tenfold {

static_assert(std::is_same_v<decltype(BuildConfig::smallest_product), int>);
static_assert(std::is_same_v<decltype(tenfold_build_config::smallest_product), std::int32_t>);
static_assert(offsetof(tenfold_build_config, smallest_product) > offsetof(tenfold_build_config, time_limit_s), "C's members stay in place");
static_assert(sizeof(tenfold_build_config) - offsetof(tenfold_build_config, smallest_product) <= 8, "and a new one is the last");
static_assert(builder::fields_in(&builder::FieldForms::in_key) == builder::fields::smallest_product::kForms.in_key.number);
static_assert(builder::fields_in(&builder::FieldForms::in_request) == builder::fields::smallest_product::kForms.in_request.number);
static_assert(builder::fields_in(&builder::FieldForms::in_summary) == builder::fields::smallest_product::kForms.in_summary.number);

}  // namespace tenfold
