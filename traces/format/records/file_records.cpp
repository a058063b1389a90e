// META, INDEX and FOOTER: what a file says of itself.
#include "traces/format/records/fields.hpp"

namespace homenode::format {

void describe(auto& fields, Of<StoredMeta> auto& stored) {
  auto& meta = stored.meta;
  for (auto* text : {&meta.tool, &meta.compiler, &meta.compiler_flags, &meta.program, &meta.arguments}) fields.text(*text);
  fields.bounded("the number of capture threads", meta.capture_threads);
  fields.number(meta.page_size);
  fields.names("the number of features", meta.features);
  fields.boolean(meta.complete);
  fields.names("the number of record names", stored.record_names);
}
template struct Codec<RecordType::meta, StoredMeta>;

void describe(auto& fields, Of<FrameOffsets> auto& frames) {
  fields.ascending(frames.offsets, fields.count("the number of an execution's frames", frames.offsets, 1));
}
template struct Codec<RecordType::index, FrameOffsets>;

void describe(auto& fields, Of<StoredFooter> auto& footer) {
  fields.boolean(footer.complete);
  for (auto* total : {&footer.executions, &footer.patterns, &footer.objects, &footer.accesses, &footer.reads, &footer.writes}) {
    fields.number(*total);
  }
  fields.text(footer.content_hash);
}
template struct Codec<RecordType::footer, StoredFooter>;

}  // namespace homenode::format
