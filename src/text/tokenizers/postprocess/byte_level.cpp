#include "text/tokenizers/postprocess/post_processor.h"

namespace tenfold::tokenizing {

Template read_byte_level_processing(const Json& json) {
  Template form = whole_texts();
  if (json.flag("trim_offsets", true)) form.trims.push_back({json.flag("add_prefix_space", true)});
  return form;
}

}  // namespace tenfold::tokenizing
