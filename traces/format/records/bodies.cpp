// ITEM: a stretch of the body of an execution, as columns of its blocks. INSTANCE inside it: what the slots are bound to.
#include "traces/format/records/fields.hpp"

namespace homenode::format {

void describe(auto& fields, Of<ItemOrigin> auto& origin) {
  fields.signed_number(origin.first);
  describe(fields, origin.parent);
  fields.id("an item's creator", origin.creator);
  fields.number(origin.first_sequence);
  fields.boolean(origin.thread_body);
}
template struct Codec<RecordType::item, ItemOrigin>;

namespace {

// Calls visit(now, before) for each slot of each block; `before` is the same slot of the block before, or zero.
void for_each_slot(auto& blocks, const auto& visit) {
  const std::vector<SlotBinding>* previous = nullptr;
  for (auto& block : blocks) {
    for (std::size_t s = 0; s < block.slots.size(); ++s) {
      visit(block.slots[s], previous != nullptr && s < previous->size() ? (*previous)[s] : SlotBinding{ObjectId{0}, 0, 0});
    }
    previous = &block.slots;
  }
}

void encode_instances(ByteWriter& out, const std::vector<ItemBlock>& blocks) {
  const auto put = [&](std::uint64_t now, std::uint64_t before) { out.signed_value(static_cast<std::int64_t>(now - before)); };
  for_each_slot(blocks, [&](const SlotBinding& now, const SlotBinding& before) { put(now.object.value(), before.object.value()); });
  for (const auto member : {&SlotBinding::base, &SlotBinding::shift}) {
    for_each_slot(blocks, [&](const SlotBinding& now, const SlotBinding& before) {
      put(static_cast<std::uint64_t>(now.*member), static_cast<std::uint64_t>(before.*member));
    });
  }
}

void decode_instances(ByteReader& in, std::vector<ItemBlock>& blocks) {
  const auto get = [&](std::uint64_t before) { return before + static_cast<std::uint64_t>(in.signed_value()); };
  for_each_slot(blocks, [&](SlotBinding& now, const SlotBinding& before) {
    now.object = ObjectId{static_cast<std::uint32_t>(get(before.object.value()))};
  });
  for (const auto member : {&SlotBinding::base, &SlotBinding::shift}) {
    for_each_slot(blocks, [&](SlotBinding& now, const SlotBinding& before) {
      now.*member = static_cast<std::int64_t>(get(static_cast<std::uint64_t>(before.*member)));
    });
  }
}

}  // namespace

void encode_part(ByteWriter& out, const BodyPart& part) {
  out.unsigned_value(part.blocks.size());
  out.signed_value(part.first);
  for (const ItemBlock& block : part.blocks) out.unsigned_value(static_cast<std::uint64_t>(block.last - block.first));
  std::int64_t pattern = 0;
  for (const ItemBlock& block : part.blocks) {
    const std::int64_t now = block.pattern.value();
    out.signed_value(now - std::exchange(pattern, now));
  }
  for (const ItemBlock& block : part.blocks) out.unsigned_value(block.slots.size());
  out.record(RecordType::instance, [&] { encode_instances(out, part.blocks); });
  for (const ItemOrigin& origin : part.origins) OriginCodec::append(out, origin, {});
}

BodyPart decode_part(ByteReader& in, std::size_t patterns, const std::vector<std::string>& names) {
  BodyPart part;
  part.blocks.resize(in.count("the number of blocks", 3));  // length, pattern and number of slots of each
  std::int64_t next = part.first = in.signed_value();
  for (ItemBlock& block : part.blocks) {
    block.first = next;
    const std::uint64_t length = in.unsigned_value();
    if (length == 0 || __builtin_add_overflow(next, static_cast<std::int64_t>(length), &next) || next <= block.first) {
      throw DecodeError{"a block of " + std::to_string(length) + " iterations"};
    }
    block.last = next;
  }
  std::int64_t pattern = 0;
  for (ItemBlock& block : part.blocks) {
    pattern = static_cast<std::int64_t>(static_cast<std::uint64_t>(pattern) + static_cast<std::uint64_t>(in.signed_value()));
    if (pattern < 0 || static_cast<std::uint64_t>(pattern) >= patterns) {
      throw DecodeError{"pattern " + std::to_string(pattern) + " of " + std::to_string(patterns)};
    }
    block.pattern = PatternId{static_cast<std::size_t>(pattern)};
  }
  std::size_t slots = 0;
  for (ItemBlock& block : part.blocks) {
    const auto count = in.bounded<std::size_t>("a block's number of slots", most_slots);
    if ((slots += count) > in.remaining() / 3) throw DecodeError{"more slots than the record holds"};
    block.slots.resize(count);
  }
  for_each_record(in, names, [&](RecordType type, ByteReader& fields) {
    if (type == RecordType::instance)
      decode_instances(fields, part.blocks);
    else if (type == RecordType::item)
      part.origins.push_back(OriginCodec::decode(fields, {}));
    else
      return false;
    return true;
  });
  return part;
}

}  // namespace homenode::format
