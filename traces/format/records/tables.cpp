// STRING, SITE, THREAD, REGION and OBJECT: the tables that the bodies of executions refer to.
#include "traces/format/records/fields.hpp"

namespace homenode::format {

void describe(auto& fields, Of<StoredText> auto& stored) { fields.text(stored.text); }
template struct Codec<RecordType::string, StoredText>;

void describe(auto& fields, Of<StoredSite> auto& stored) {
  fields.number(stored.site.pc);
  fields.string(stored.site.file);
  fields.bounded("a site's line", stored.site.line);
  fields.string(stored.site.function);
  fields.id("a site's inline parent", stored.extra.inline_parent);
}
template struct Codec<RecordType::site, StoredSite>;

void describe(auto& fields, Of<StoredThread> auto& stored) {
  fields.id("a thread's parent", stored.thread.parent);
  fields.string(stored.thread.routine);
  fields.signed_number(stored.thread.rank);
  fields.number(stored.extra.create_event);
  fields.number(stored.extra.join_event);
}
template struct Codec<RecordType::thread, StoredThread>;

void describe(auto& fields, Of<Region> auto& region) {
  fields.one_of("a region's kind", region.kind, RegionKind::thread);
  fields.string(region.label);
  fields.id("a region's site", region.site);
  fields.count("a region's dimensions", region.dimensions, 3);
  for (auto& dimension : region.dimensions) {
    fields.signed_number(dimension.low);
    fields.signed_number(dimension.high);
    fields.signed_number(dimension.step);
  }
  fields.flags(region.nowait, region.ordered, region.reduction);
  fields.string(region.schedule_clause);
}
template struct Codec<RecordType::region, Region>;

void describe(auto& fields, Of<TracedObject> auto& object) {
  fields.one_of("an object's kind", object.kind, ObjectKind::unknown);
  fields.boolean(object.thread_private);
  fields.number(object.bytes);
  fields.number(object.alignment);
  fields.id("an object's site", object.site);
  fields.string(object.symbol);
  fields.id("the object that an object was reallocated from", object.reallocated_from);
  fields.signed_number(object.owner_hint);
}
template struct Codec<RecordType::object, TracedObject>;

}  // namespace homenode::format
