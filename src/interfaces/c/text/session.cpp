// A decoder's sequences from C.
#include "c/text/text.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" tenfold_status tenfold_decoder_start(const tenfold_decoder* decoder, int32_t sequences, tenfold_decoder_session** session) {
  return guarded([&] {
    place(session, "the place for the session",
          [&] { return new tenfold_decoder_session{need(decoder, "the decoder").decoder.start(sequences)}; });
  });
}
extern "C" void tenfold_decoder_session_free(tenfold_decoder_session* session) { delete session; }
extern "C" int32_t tenfold_decoder_session_size(const tenfold_decoder_session* session) { return session ? session->session.size() : 0; }

extern "C" tenfold_status tenfold_decoder_session_ids(const tenfold_decoder_session* session, int32_t sequence, const int32_t** ids,
                                                      int32_t* count) {
  return guarded([&] {
    const std::span<const std::int32_t> own = need(session, "the session").session.ids(sequence);
    need(ids, "the place for the ids") = own.data();
    need(count, "the place for the count") = static_cast<std::int32_t>(own.size());
  });
}
extern "C" tenfold_status tenfold_decoder_session_append(tenfold_decoder_session* session, const int32_t* const* tokens,
                                                         const int32_t* sizes, int32_t count, const tenfold_run_options* run,
                                                         const float** logits) {
  return guarded([&] {
    const std::span<const float> rows = need(session, "the session").session.append(lists_of(tokens, sizes, count), options_of(run));
    if (logits) *logits = rows.data();
  });
}
extern "C" tenfold_status tenfold_decoder_session_append_each(tenfold_decoder_session* session, const int32_t* const* tokens,
                                                              const int32_t* sizes, int32_t count, const tenfold_run_options* run,
                                                              const float** logits) {
  return guarded([&] {
    const std::span<const float> rows = need(session, "the session").session.append_each(lists_of(tokens, sizes, count), options_of(run));
    if (logits) *logits = rows.data();
  });
}
extern "C" tenfold_status tenfold_decoder_session_truncate(tenfold_decoder_session* session, int32_t sequence, int32_t length) {
  return guarded([&] { need(session, "the session").session.truncate(sequence, length); });
}
extern "C" tenfold_status tenfold_decoder_session_fork(const tenfold_decoder_session* session, tenfold_decoder_session** copy) {
  return guarded([&] {
    place(copy, "the place for the session", [&] { return new tenfold_decoder_session{need(session, "the session").session.fork()}; });
  });
}
