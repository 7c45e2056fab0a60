// The fields of BuildConfig as types, and where each is written: the table tenfold/build_fields.h for code that walks over it.
#pragma once

#include <type_traits>

#include "tenfold/build.h"

namespace tenfold::builder {

// The place of a field in a form that is stored, and what it is called there; 0: it is not in that form.
struct Place {
  int number = 0;
  const char* name = nullptr;   // null: the field's own
  bool if_set = false;          // left out where the field has its default
};

// What a row of the table says in its column `forms`.
struct FieldForms {
  Place in_key, in_request, in_kept, in_summary;
  bool key_declared = false, request_declared = false;

  constexpr FieldForms key(int number, const char* name = nullptr) const { return with(&FieldForms::in_key, {number, name}).no_key(); }
  constexpr FieldForms key_if_set(int number, const char* name = nullptr) const {
    return with(&FieldForms::in_key, {number, name, true}).no_key();
  }
  constexpr FieldForms request(int number) const { return with(&FieldForms::in_request, {number}).no_request(); }
  constexpr FieldForms kept(const char* name = nullptr) const { return with(&FieldForms::in_kept, {1, name}); }
  constexpr FieldForms kept_if_set(const char* name = nullptr) const { return with(&FieldForms::in_kept, {1, name, true}); }
  constexpr FieldForms summary(int number, const char* name = nullptr) const { return with(&FieldForms::in_summary, {number, name}); }
  constexpr FieldForms summary_if_set(int number, const char* name = nullptr) const {
    return with(&FieldForms::in_summary, {number, name, true});
  }
  constexpr FieldForms no_key() const {
    FieldForms copy = *this;
    copy.key_declared = true;
    return copy;
  }
  constexpr FieldForms no_request() const {
    FieldForms copy = *this;
    copy.request_declared = true;
    return copy;
  }

 private:
  constexpr FieldForms with(Place FieldForms::*form, Place place) const {
    FieldForms copy = *this;
    copy.*form = place;
    return copy;
  }
};

// A type for each field, so that code which treats one in a way of its own can name it.
namespace fields {
#define TF_FIELD(type, field, initial, forms, c, flag)                                                   \
  struct field {                                                                                         \
    static constexpr const char* kName = #field;                                                         \
    static constexpr FieldForms kForms = FieldForms() forms;                                             \
    template <class Config>                                                                              \
    static constexpr auto& of(Config& config) { return config.field; }                                   \
    static constexpr const char* name_in(const Place& place) { return place.name ? place.name : kName; } \
  };
#include "tenfold/build_fields.h"
}  // namespace fields

// Whether a form has no word of this field. (Lists and texts that are empty say nothing anyhow.)
template <class Field>
bool left_out(Field, const Place& place, const BuildConfig& config) {
  static const BuildConfig usual;
  if constexpr (std::is_scalar_v<std::remove_cvref_t<decltype(Field::of(config))>>)
    return place.if_set && Field::of(config) == Field::of(usual);
  else
    return false;
}

template <class Visit>
constexpr void each_field(Visit visit) {
#define TF_FIELD(type, field, initial, forms, c, flag) visit(fields::field());
#include "tenfold/build_fields.h"
}

constexpr int fields_in(Place FieldForms::*form) {
  int count = 0;
  each_field([&](auto field) { count += (field.kForms.*form).number > 0; });
  return count;
}

// `visit` gets the fields that are in this form, in the order of their places.
template <Place FieldForms::*kForm, class Visit>
void each_field_in(Visit visit) {
  for (int number = 1; number <= fields_in(kForm); ++number)
    each_field([&](auto field) {
      if constexpr ((decltype(field)::kForms.*kForm).number > 0)
        if ((field.kForms.*kForm).number == number) visit(field);
    });
}

constexpr bool places_are_1_to_n(Place FieldForms::*form) {
  for (int number = 1; number <= fields_in(form); ++number) {
    int here = 0;
    each_field([&](auto field) { here += (field.kForms.*form).number == number; });
    if (here != 1) return false;
  }
  return true;
}
constexpr bool every_field_says() {
  bool all = true;
  each_field([&](auto field) { all = all && field.kForms.key_declared && field.kForms.request_declared; });
  return all;
}
static_assert(places_are_1_to_n(&FieldForms::in_key), "build_fields.h: two fields have one number in .key(), or one is left out");
static_assert(places_are_1_to_n(&FieldForms::in_request), "build_fields.h: two fields have one number in .request(), or one is left out");
static_assert(places_are_1_to_n(&FieldForms::in_summary), "build_fields.h: two fields have one number in .summary(), or one is left out");
static_assert(every_field_says(), "build_fields.h: a field has neither .key() nor .no_key(), or neither .request() nor .no_request()");

}  // namespace tenfold::builder
