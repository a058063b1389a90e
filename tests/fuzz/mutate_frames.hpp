// libFuzzer's mutator for traces as plain frames: it takes the trace apart, changes a payload, a record or the order of frames, and puts
// it together again. What runs the input seals it, so that every mutation has right checksums and sizes.
#pragma once

#include <iterator>
#include <random>
#include <utility>

#include "tests/fuzz/sealed_frames.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace homenode::fuzz {

struct PlainRecord {
  std::uint64_t tag = 0;
  std::vector<std::uint8_t> fields;
};

inline std::vector<PlainRecord> records_in(const std::vector<std::uint8_t>& raw) {
  std::vector<PlainRecord> records;
  try {
    for (format::ByteReader in{raw}; !in.at_end();) {
      PlainRecord record{in.unsigned_value(), {}};
      record.fields.resize(in.count("a record's length"));
      for (std::uint8_t& byte : record.fields) byte = in.byte();
      records.push_back(std::move(record));
    }
  } catch (const format::DecodeError&) { return {}; }
  return records;
}

inline std::vector<std::uint8_t> bytes_of(const std::vector<PlainRecord>& records) {
  format::ByteWriter out;
  for (const PlainRecord& record : records) {
    out.unsigned_value(record.tag);
    out.unsigned_value(record.fields.size());
    for (const std::uint8_t byte : record.fields) out.byte(byte);
  }
  return out.bytes();
}

inline void mutate_bytes(std::vector<std::uint8_t>& bytes, std::size_t room) {
  const std::size_t size = bytes.size();
  bytes.resize(size + room);
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
}

// Elements of a list: one goes, comes twice, or changes places with another.
template <class Element>
void mutate_order(std::vector<Element>& list, std::minstd_rand& random) {
  if (list.empty()) return;
  const std::size_t one = random() % list.size(), other = random() % list.size();
  switch (random() % 3) {
    case 0: list.erase(list.begin() + static_cast<std::ptrdiff_t>(one)); break;
    case 1: {
      Element copy = list[one];
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(other), std::move(copy));
      break;
    }
    default: std::swap(list[one], list[other]); break;
  }
}

// A record's fields change and its length with them: the records behind it stay readable.
inline void mutate_record(PlainFrame& frame, std::size_t room, std::minstd_rand& random) {
  std::vector<PlainRecord> records = records_in(frame.raw);
  if (records.empty()) return mutate_bytes(frame.raw, room);
  if (random() % 4 == 0)
    mutate_order(records, random);
  else
    mutate_bytes(records[random() % records.size()].fields, room);
  frame.raw = bytes_of(records);
}

inline std::size_t mutate_trace(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::minstd_rand random{seed};
  std::vector<PlainFrame> frames = frames_in(data, size);
  const std::size_t room = std::min<std::size_t>(most > size ? most - size : 0, 64);
  if (frames.empty()) return LLVMFuzzerMutate(data, size, most);
  PlainFrame& frame = frames[random() % frames.size()];
  switch (random() % 8) {
    case 0: mutate_order(frames, random); break;
    case 1: mutate_bytes(frame.raw, room); break;
    case 2:
      if (random() % 16 == 0)
        frame.critical = !frame.critical;
      else
        frame.type = static_cast<std::uint16_t>(random() % (last_record_type + 2));
      break;
    default: mutate_record(frame, room, random); break;
  }
  const std::vector<std::uint8_t> bytes = bytes_of(frames);
  if (bytes.size() > most) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace homenode::fuzz
