#include "traces/importers/import_trace.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "sim/base/errors.hpp"
#include "traces/format/trace_writer.hpp"
#include "traces/importers/blocks.hpp"
#include "traces/importers/csv.hpp"
#include "traces/importers/folding.hpp"
#include "traces/importers/lackey.hpp"

namespace homenode {
namespace {

using Owners = ImportSource::Owners;
using MakeSource = std::function<std::unique_ptr<ImportSource>()>;

constexpr std::size_t most_objects_held = AccessFolder::most_objects - 1;
constexpr std::size_t least_held = 4096;  // of each of many threads
constexpr std::size_t most_held_by_item = std::size_t{1} << 24;
constexpr std::uint64_t accesses_between_reports = 1 << 18;

// What the first pass finds.
struct Survey {
  AddressRanges ranges;
  std::uint64_t accesses = 0, instructions = 0;
  std::set<std::uint64_t> threads;
  bool complete = true;
  std::string program, arguments;
};

class Import {
public:
  Import(const ImportOptions& options, const MakeSource& make_source) : options_{options}, make_source_{make_source} {}

  ImportResult run() {
    std::error_code error;
    if (std::filesystem::equivalent(options_.input, options_.output, error))
      throw UsageError("'" + options_.output.string() + "' is the input; allowed: another output");
    survey();
    std::filesystem::path part = options_.output;
    if (part.extension() != ".part") part += ".part";
    try {
      return write();
    } catch (...) {
      writer_.reset();
      std::filesystem::remove(part, error);
      throw;
    }
  }

private:
  void report(const ImportSource& source, std::uint64_t before) {
    if (!options_.progress || accesses_++ % accesses_between_reports != 0) return;
    options_.progress(before + source.bytes_read(), 2 * size_);
  }

  void survey() {
    const auto source = make_source_();
    std::error_code error;
    size_ = std::filesystem::file_size(options_.input, error);
    ImportedAccess access;
    while (source->next(access)) {
      survey_.ranges.touch(access.address, access.width);
      ++survey_.accesses;
      survey_.instructions += access.instructions;
      if (source->owners() == Owners::threads) survey_.threads.insert(access.owner);
      report(*source, 0);
    }
    survey_.instructions += access.instructions;
    if (survey_.accesses == 0) throw InputError("'" + options_.input.string() + "' has no accesses; allowed: at least one");
    survey_.ranges.seal();
    survey_.complete = source->complete();
    survey_.program = source->program();
    survey_.arguments = source->arguments();
    if (survey_.program.empty()) survey_.program = options_.input.stem().string();
  }

  ImportResult write() {
    const auto source = make_source_();
    owners_ = source->owners();
    sites_known_ = source->has_sites();
    ImportResult result;
    for (const Recorded what : source->lacks()) result.lacks.push_back(name_of(what));
    writer_.emplace(options_.output);
    write_tables(*source, result.lacks);
    folders_.resize(owners_ == Owners::threads ? survey_.threads.size() : 1);
    parts_written_.resize(folders_.size(), 0);
    most_held_ = std::max(std::min(least_held, options_.most_held), options_.most_held / folders_.size());
    fold(*source);
    result.content_hash = writer_->finish(survey_.complete);
    result.complete = survey_.complete;
    result.accesses = survey_.accesses;
    result.objects = survey_.ranges.objects();
    result.threads.assign(survey_.threads.begin(), survey_.threads.end());
    return result;
  }

  void write_tables(const ImportSource& source, const std::vector<std::string>& lacks) {
    TraceMeta meta;
    meta.tool = source.tool();
    meta.program = survey_.program;
    meta.arguments = survey_.arguments;
    meta.capture_threads = static_cast<std::uint32_t>(std::max<std::size_t>(survey_.threads.size(), 1));
    meta.features.push_back("imported:" + source.tool());
    for (const std::string& what : lacks) meta.features.push_back(std::string{lacking_feature} + what);
    writer_->meta(meta);
    for (const Recorded what : source.lacks())
      writer_->add(
          Loss{SiteId::none(), "not in " + source.tool() + ": " + name_of(what) + " (" + meaning_of(what) + ")", survey_.accesses});
    TracedThread thread;
    writer_->add(thread);
    region_ = writer_->add(region());
    const std::vector<AddressRanges::Range>& objects = survey_.ranges.objects();
    for (std::size_t i = 0; i < objects.size(); ++i) {
      TracedObject object;
      object.kind = ObjectKind::unknown;
      object.bytes = objects[i].bytes();
      object.alignment = AddressRanges::page;
      object.symbol = "addresses#" + std::to_string(i);
      object.site = writer_->add(Site{objects[i].first, "", 0, ""});  // where it lay, outside the content hash
      writer_->add(object);
    }
  }

  Region region() const {
    Region region;
    region.site = SiteId::none();
    switch (owners_) {
      case Owners::one:
        region.kind = RegionKind::serial;
        region.label = "program";
        break;
      case Owners::threads:
        region.kind = RegionKind::thread;
        region.label = "threads";
        break;
      case Owners::items:
        region.kind = RegionKind::loop;
        region.label = "items";
        break;
    }
    return region;
  }

  void fold(ImportSource& source) {
    BlockJoiner items{[this](const ItemPattern& pattern) { return writer_->add(region_, pattern); },
                      [this](const ItemBlock& block) { writer_->append(*loop_, block); }};
    if (owners_ == Owners::items) loop_ = writer_->open_execution(region_, 0);
    std::uint64_t item = 0, found = 0;
    ImportedAccess access;
    while (source.next(access)) {
      const std::size_t object = survey_.ranges.object_of(access.address);
      if (object == survey_.ranges.objects().size() || ++found > survey_.accesses) changed();
      std::size_t folder = 0;
      if (owners_ == Owners::threads) {
        const auto rank = survey_.threads.find(access.owner);
        if (rank == survey_.threads.end()) changed();
        folder = rank_of(access.owner, rank);
      } else if (owners_ == Owners::items && access.owner != item) {
        items.add(folders_[0].finish());
        items.add_empty(static_cast<std::int64_t>(access.owner - item - 1));
        item = access.owner;
      }
      AccessFolder& of = folders_[folder];
      of.add_work(work_of(access));
      const auto offset = static_cast<std::int64_t>(access.address - survey_.ranges.objects()[object].first);
      of.add(site_of(access.site), ObjectId{object}, offset, access.kind, access.width);
      if (owners_ == Owners::items)
        check_item(source, of, item);
      else if (of.held() >= most_held_ || of.objects() >= most_objects_held)
        end_part(folder);
      report(source, size_);
    }
    if (found != survey_.accesses) changed();
    if (owners_ == Owners::items) {
      items.add(folders_[0].finish());
      items.finish();
      close_loop(static_cast<std::int64_t>(item) + 1);
      return;
    }
    folders_[0].add_work({.instructions = static_cast<double>(access.instructions)});
    for (std::size_t f = 0; f < folders_.size(); ++f) {
      if (folders_[f].accesses() > 0 || parts_written_[f] == 0 || access.instructions > 0) end_part(f);
    }
    if (owners_ == Owners::threads) close_team();
  }

  [[noreturn]] void changed() const {
    throw InputError("'" + options_.input.string() + "' changed while it was read; allowed: a file that nobody writes");
  }

  static void check_item(const ImportSource& source, const AccessFolder& of, std::uint64_t item) {
    if (of.held() >= most_held_by_item || of.objects() >= most_objects_held)
      source.fail("item " + std::to_string(item) + " has more accesses without regularity than can be held; allowed: " +
                  std::to_string(most_held_by_item) + " accesses in " + std::to_string(most_objects_held) + " ranges of addresses");
  }

  std::size_t rank_of(std::uint64_t thread, std::set<std::uint64_t>::const_iterator found) {
    const auto [entry, fresh] = ranks_.try_emplace(thread, 0);
    if (fresh) entry->second = static_cast<std::size_t>(std::distance(survey_.threads.cbegin(), found));
    return entry->second;
  }

  SiteId site_of(std::uint64_t pc) {
    if (!sites_known_) return SiteId::none();
    const auto [entry, fresh] = sites_.try_emplace(pc, SiteId::none());
    if (fresh) entry->second = writer_->add(Site{pc, "", 0, ""});
    return entry->second;
  }

  // Loads and stores are instructions only where those were counted.
  WorkCounts work_of(const ImportedAccess& access) const {
    WorkCounts work;
    if (survey_.instructions == 0) return work;
    work.instructions = static_cast<double>(access.instructions);
    if (access.kind != AccessKind::write) work.load = 1;
    if (access.kind != AccessKind::read) work.store = 1;
    return work;
  }

  // What a folder holds becomes an iteration of its own: of a serial region, or of its rank.
  void end_part(std::size_t folder) {
    ItemBlock block;
    BlockJoiner joiner{[this](const ItemPattern& pattern) { return writer_->add(region_, pattern); },
                       [&block](const ItemBlock& emitted) { block = emitted; }};
    joiner.add(folders_[folder].finish());
    joiner.finish();
    const std::size_t part = parts_written_[folder]++;
    if (owners_ == Owners::threads) {
      if (part == team_parts_.size()) team_parts_.emplace_back(folders_.size());
      team_parts_[part][folder] = std::move(block);
      return;
    }
    Execution execution;
    execution.iterations = 1;
    const ExecutionId id = writer_->open_execution(region_, part);
    writer_->append(id, block);
    writer_->close_execution(id, execution);
  }

  void close_loop(std::int64_t iterations) {
    Region loop = region();
    loop.dimensions = {{0, iterations, 1}};
    writer_->update(region_, loop);
    Execution execution;
    execution.iterations = iterations;
    execution.parallel = 1;
    execution.barrier_after = true;
    writer_->close_execution(*loop_, execution);
  }

  // The team goes through its parts without waiting in between; a thread that has no more of them does nothing.
  void close_team() {
    const PatternId nothing = writer_->add(region_, ItemPattern{});
    for (std::size_t part = 0; part < team_parts_.size(); ++part) {
      const ExecutionId id = writer_->open_execution(region_, part);
      for (std::size_t rank = 0; rank < folders_.size(); ++rank) {
        ItemBlock block{0, 0, nothing, {}};
        if (team_parts_[part][rank]) block = *team_parts_[part][rank];
        block.first = static_cast<std::int64_t>(rank);
        block.last = block.first + 1;
        writer_->append(id, block);
      }
      Execution execution;
      execution.iterations = static_cast<std::int64_t>(folders_.size());
      execution.binding = Binding::rank;
      execution.team = static_cast<std::uint32_t>(folders_.size());
      execution.parallel = 1;
      execution.barrier_after = part + 1 == team_parts_.size();
      writer_->close_execution(id, execution);
    }
  }

  const ImportOptions& options_;
  const MakeSource& make_source_;
  std::uint64_t size_ = 0, accesses_ = 0;
  Survey survey_;
  Owners owners_ = Owners::one;
  bool sites_known_ = false;
  std::size_t most_held_ = 0;
  std::optional<TraceWriter> writer_;
  RegionId region_;
  std::optional<ExecutionId> loop_;
  std::map<std::uint64_t, std::size_t> ranks_;
  std::unordered_map<std::uint64_t, SiteId> sites_;
  std::vector<AccessFolder> folders_;  // by rank
  std::vector<std::size_t> parts_written_;
  std::deque<std::vector<std::optional<ItemBlock>>> team_parts_;  // by part and rank
};

}  // namespace

ImportResult import_lackey(const ImportOptions& options) {
  const MakeSource make_source = [&] { return std::make_unique<LackeyText>(options.input); };
  return Import{options, make_source}.run();
}

ImportResult import_csv(const ImportOptions& options) {
  const MakeSource make_source = [&] { return std::make_unique<CsvTable>(options.input); };
  return Import{options, make_source}.run();
}

}  // namespace homenode
