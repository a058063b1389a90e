#include "traces/hnt/trace_writer.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <map>

#include "traces/hnt/frames.hpp"

namespace homenode {
using namespace format;

namespace {

template <class Entry>
std::vector<std::uint8_t> encoded(const Entry& entry) {
  Encoder out;
  put(out, entry);
  return out.bytes();
}

// Over program order, objects renumbered by first use and told by kind, size and symbol; patterns by content. No sites'
// addresses, no calibration, nothing of the host.
class CanonicalHash {
public:
  CanonicalHash() : state_{XXH3_createState()} { XXH3_128bits_reset(state_); }
  ~CanonicalHash() { XXH3_freeState(state_); }
  CanonicalHash(const CanonicalHash&) = delete;
  CanonicalHash& operator=(const CanonicalHash&) = delete;

  void add(const Workload& workload, const Execution& execution, const ExecutionBody& body) {
    Encoder out;
    const Region& region = workload.regions[execution.region.index()];
    out.text(region.label);
    out.u64(static_cast<std::uint64_t>(region.kind));
    Execution plain = execution;
    plain.region = RegionId{0};
    put(out, plain);
    for (const ItemBlock& block : body.blocks) {
      out.i64(block.first), out.i64(block.last);
      out.u64(pattern(workload, block.pattern));
      for (const SlotBinding& slot : block.slots) {
        const auto [found, fresh] = objects_.try_emplace(slot.object.value(), objects_.size());
        out.u64(found->second);
        if (fresh) {
          const TracedObject& object = workload.objects[slot.object.index()];
          out.u64(static_cast<std::uint64_t>(object.kind)), out.u64(object.bytes), out.text(object.symbol), out.u64(object.thread_private);
        }
        out.i64(slot.base), out.i64(slot.shift);
      }
    }
    XXH3_128bits_update(state_, out.bytes().data(), out.bytes().size());
  }
  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_);
    char digits[33];
    std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return digits;
  }

private:
  std::uint64_t pattern(const Workload& workload, PatternId id) {
    auto [found, fresh] = patterns_.try_emplace(id.value(), 0);
    if (fresh) {
      ItemPattern plain = workload.patterns[id.index()];
      for (AccessRun& run : plain.runs) run.site = SiteId{0};
      for (IrregularStream& stream : plain.streams) stream.site = SiteId{0};
      plain.work = {};
      const auto bytes = encoded(plain);
      found->second = XXH3_64bits(bytes.data(), bytes.size());
    }
    return found->second;
  }
  XXH3_state_t* state_;
  std::map<std::uint32_t, std::uint64_t> objects_, patterns_;
};

}  // namespace

struct TraceWriter::State {
  std::filesystem::path path, part;
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::size_t sites = 0, objects = 0, regions = 0, patterns = 0;
  std::vector<std::pair<std::uint64_t, Execution>> executions;  // offset of the body's frame
  std::vector<std::uint64_t> tables;                            // offsets of table frames, in order
  CanonicalHash hash;
  bool finished = false;

  void write(const void* data, std::size_t size) {
    const auto* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t put = ::write(descriptor, at, size);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw InputError(part.string() + ": cannot be written: " + std::strerror(errno));
      at += put, size -= static_cast<std::size_t>(put), offset += static_cast<std::uint64_t>(put);
    }
  }
  std::uint64_t frame(FrameType type, const Encoder& payload) {
    const std::uint64_t at = offset;
    const auto bytes = seal(type, payload.bytes());
    write(bytes.data(), bytes.size());
    return at;
  }
  template <class Entry>
  void grow(FrameType type, const std::vector<Entry>& table, std::size_t& done) {
    if (done == table.size()) return;
    Encoder out;
    out.u64(table.size() - done);
    for (; done < table.size(); ++done) put(out, table[done]);
    tables.push_back(frame(type, out));
  }
  void tables_of(const Workload& workload) {
    grow(FrameType::sites, workload.sites, sites);
    grow(FrameType::objects, workload.objects, objects);
    grow(FrameType::regions, workload.regions, regions);
    grow(FrameType::patterns, workload.patterns, patterns);
  }
};

TraceWriter::TraceWriter(std::filesystem::path path) : state_{std::make_unique<State>()} {
  state_->path = std::move(path);
  state_->part = state_->path;
  state_->part += ".part";
  state_->descriptor = ::open(state_->part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (state_->descriptor < 0) throw InputError(state_->part.string() + ": cannot be created: " + std::strerror(errno));
  Encoder header;
  std::uint8_t bytes[file_header_bytes] = {};
  std::memcpy(bytes, magic, sizeof magic);
  bytes[8] = version;
  state_->write(bytes, sizeof bytes);
}

TraceWriter::~TraceWriter() {
  if (state_->descriptor >= 0) ::close(state_->descriptor);
  std::error_code ignored;
  if (!state_->finished) std::filesystem::remove(state_->part, ignored);
}

void TraceWriter::add(const Workload& workload, const Execution& execution, const ExecutionBody& body) {
  state_->tables_of(workload);
  state_->hash.add(workload, execution, body);
  Encoder out;
  put(out, execution);
  put(out, body);
  state_->executions.emplace_back(state_->frame(FrameType::execution, out), execution);
}

std::string TraceWriter::finish(const Workload& workload) {
  State& s = *state_;
  s.tables_of(workload);
  std::size_t none = 0, no_losses = 0;
  s.grow(FrameType::threads, workload.threads, none);
  s.grow(FrameType::losses, workload.losses, no_losses);
  Encoder meta;
  const std::string hash = s.hash.text();
  meta.text(workload.program), meta.text(workload.compiler), meta.text(workload.arguments), meta.text(hash);
  meta.u64(workload.complete), meta.u64(workload.page_size);
  s.tables.push_back(s.frame(FrameType::meta, meta));
  Encoder index;
  index.u64(s.tables.size());
  for (const std::uint64_t table : s.tables) index.u64(table);
  index.u64(s.executions.size());
  for (const auto& [offset, execution] : s.executions) {
    index.u64(offset);
    put(index, execution);
  }
  const std::uint64_t at = s.frame(FrameType::index, index);
  std::uint8_t trailer[trailer_bytes];
  for (int i = 0; i < 8; ++i) trailer[i] = static_cast<std::uint8_t>(at >> (8 * i));
  const std::uint64_t sum = checksum(trailer, 8);
  for (int i = 0; i < 8; ++i) trailer[8 + i] = static_cast<std::uint8_t>(sum >> (8 * i));
  std::memcpy(trailer + 16, magic, sizeof magic);
  s.write(trailer, sizeof trailer);
  if (::fsync(s.descriptor) != 0 || ::close(s.descriptor) != 0)
    throw InputError(s.part.string() + ": cannot be written: " + std::strerror(errno));
  s.descriptor = -1;
  std::filesystem::rename(s.part, s.path);
  s.finished = true;
  return hash;
}

std::string write_trace(const Workload& workload, const std::filesystem::path& path) {
  TraceWriter writer{path};
  for (std::size_t i = 0; i < workload.executions.size(); ++i) writer.add(workload, workload.executions[i], *workload.body(ExecutionId{i}));
  return writer.finish(workload);
}

}  // namespace homenode
