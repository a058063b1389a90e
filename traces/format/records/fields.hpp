// A record's fields, described once for both directions: describe(fields, record) names them in the order of the file, and `fields`
// is an Encoder or a Decoder. The name of a field appears in the DecodeError that refuses its value.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "traces/format/records/codec.hpp"

namespace homenode::format {

// A record, constant where it is written.
template <class Record, class Plain>
concept Of = std::same_as<std::remove_const_t<Record>, Plain>;

// A column that is read whole (a vector) or kept in few bytes (NumberColumn).
template <class Column, class Number>
concept Numbers = std::same_as<Column, std::vector<Number>> || std::same_as<Column, NumberColumn<Number>>;

class Encoder {
public:
  Encoder(ByteWriter& out, const Intern& intern) : out_{out}, intern_{intern} {}
  void number(std::unsigned_integral auto value) { out_.unsigned_value(value); }
  void signed_number(std::signed_integral auto value) { out_.signed_value(value); }
  void bounded(const char*, std::unsigned_integral auto value) { out_.unsigned_value(value); }
  void at_most(const char*, std::unsigned_integral auto value, std::uint64_t) { out_.unsigned_value(value); }
  template <class Enum>
  void one_of(const char*, Enum value, Enum) {
    out_.byte(static_cast<std::uint8_t>(value));
  }
  void boolean(bool value) { out_.byte(value ? 1 : 0); }
  template <class... Flag>
  void flags(Flag... flag) {  // one byte, the first flag lowest
    unsigned bits = 0, bit = 0;
    ((bits |= unsigned{flag} << bit++), ...);
    out_.byte(static_cast<std::uint8_t>(bits));
  }
  void id(const char*, auto value) { out_.id(value); }
  void real(double value) { out_.real(value); }
  void text(const std::string& value) { out_.text(value); }
  void names(const char*, const std::vector<std::string>& values) {
    out_.unsigned_value(values.size());
    for (const std::string& value : values) text(value);
  }
  void string(const std::string& value) { out_.unsigned_value(intern_(value)); }
  void slot(const char*, SlotNumber value) { out_.unsigned_value(value); }
  std::size_t count(const char*, const auto& elements, std::size_t) {
    out_.unsigned_value(elements.size());
    return elements.size();
  }
  void slots(const char* field, const NumberColumn<SlotNumber>& column, std::size_t length) { numbers(field, column, length); }
  void numbers(const char*, const Numbers<std::uint32_t> auto& column, std::size_t length) {
    out_.reserve(length);
    out_.unsigned_column(length, [&](std::size_t i) { return std::uint64_t{column[i]}; });
  }
  // Each number as its difference to the one before.
  void differences(const NumberColumn<std::int64_t>& column, std::size_t length) {
    out_.reserve(2 * length);
    std::uint64_t previous = 0;
    out_.unsigned_column(length, [&](std::size_t i) {
      const auto now = static_cast<std::uint64_t>(column[i]);
      return ByteWriter::zigzag(static_cast<std::int64_t>(now - std::exchange(previous, now)));
    });
  }
  void ascending(const Numbers<std::uint64_t> auto& column, std::size_t length) {
    out_.reserve(2 * length);
    std::uint64_t previous = 0;
    out_.unsigned_column(length, [&](std::size_t i) { return column[i] - std::exchange(previous, column[i]); });
  }

private:
  ByteWriter& out_;
  const Intern& intern_;
};

class Decoder {
public:
  Decoder(ByteReader& in, const LookUp& look_up, SlotNumber slots) : in_{in}, look_up_{look_up}, slots_{slots} {}
  void number(std::uint64_t& value) { value = in_.unsigned_value(); }
  template <std::signed_integral Value>
  void signed_number(Value& value) {
    value = static_cast<Value>(in_.signed_value());
  }
  template <std::unsigned_integral Value>
  void at_most(const char* field, Value& value, std::uint64_t limit) {
    value = in_.bounded<Value>(field, limit);
  }
  template <std::unsigned_integral Value>
  void bounded(const char* field, Value& value) {
    at_most(field, value, std::numeric_limits<Value>::max());
  }
  template <class Enum>
  void one_of(const char* field, Enum& value, Enum last) {
    value = static_cast<Enum>(in_.bounded<std::uint8_t>(field, static_cast<std::uint64_t>(last)));
  }
  void boolean(bool& value) { value = in_.byte() != 0; }
  template <class... Flag>
  void flags(Flag&... flag) {
    const unsigned bits = in_.byte();
    unsigned bit = 0;
    ((flag = (bits >> bit++ & 1) != 0), ...);
  }
  template <class Identifier>
  void id(const char* field, Identifier& value) {
    value = in_.id<Identifier>(field);
  }
  void real(double& value) { value = in_.real(); }
  void text(std::string& value) { value = in_.text(); }
  // A short list: an empty text takes 1 byte in the file and 32 in memory.
  void names(const char* field, std::vector<std::string>& values) {
    values.resize(in_.bounded<std::size_t>(field, most_names));
    for (std::string& value : values) text(value);
  }
  void string(std::string& value) { value = look_up_(in_.unsigned_value()); }
  void slot(const char* field, SlotNumber& value) { value = in_.bounded<SlotNumber>(field, slots_ - 1u); }
  // `least_bytes`: what an element takes in the file.
  std::size_t count(const char* field, const NumberColumn<SlotNumber>&, std::size_t least_bytes) { return in_.count(field, least_bytes); }
  template <class Element>
  std::size_t count(const char* field, std::vector<Element>& elements, std::size_t least_bytes) {
    const std::size_t length = in_.count(field, least_bytes);
    reserve_large(elements, length);
    elements.assign(length, {});
    return length;
  }
  void slots(const char* field, NumberColumn<SlotNumber>& column, std::size_t length) {
    fill(column, length, [&](SlotNumber& number) { slot(field, number); });
  }
  void numbers(const char* field, Numbers<std::uint32_t> auto& column, std::size_t length) {
    fill(column, length, [&](std::uint32_t& number) { bounded(field, number); });
  }
  void differences(NumberColumn<std::int64_t>& column, std::size_t length) {
    std::uint64_t now = 0;
    fill(column, length, [&](std::int64_t& number) {
      now += static_cast<std::uint64_t>(in_.signed_value());
      number = static_cast<std::int64_t>(now);
    });
  }
  void ascending(Numbers<std::uint64_t> auto& column, std::size_t length) {
    std::uint64_t now = 0;
    fill(column, length, [&](std::uint64_t& number) { number = now += in_.unsigned_value(); });
  }

private:
  template <class Number>
  static void fill(std::vector<Number>& column, std::size_t length, const auto& take) {
    reserve_large(column, length);
    column.resize(length);
    for (Number& number : column) take(number);
  }
  template <class Number>
  static void fill(NumberColumn<Number>& column, std::size_t length, const auto& take) {
    column.reserve(length);
    for (std::size_t i = 0; i < length; ++i) {
      Number number{};
      take(number);
      column.push_back(number);
    }
  }
  static constexpr std::size_t most_names = 4096;
  ByteReader& in_;
  const LookUp& look_up_;
  SlotNumber slots_;
};

void describe(auto& fields, Of<ItemReference> auto& item) {
  fields.id("an item's execution", item.execution);
  fields.signed_number(item.iteration);
}

void describe(auto& fields, Of<WorkCounts> auto& work) {
  for (auto* count : {&work.instructions, &work.integer, &work.fp_add, &work.fp_multiply, &work.fp_fma, &work.divide, &work.load,
                      &work.store, &work.branch}) {
    fields.real(*count);
  }
}

template <RecordType type, class Record>
void Codec<type, Record>::encode(ByteWriter& out, const Record& record, const Intern& intern) {
  Encoder fields{out, intern};
  describe(fields, record);
}

template <RecordType type, class Record>
Record Codec<type, Record>::decode(ByteReader& in, const LookUp& look_up, SlotNumber slots) {
  Record record{};
  Decoder fields{in, look_up, slots};
  describe(fields, record);
  return record;
}

}  // namespace homenode::format
