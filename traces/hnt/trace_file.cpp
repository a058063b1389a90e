#include "traces/hnt/trace_file.hpp"

#include <deque>
#include <map>
#include <mutex>

#include "traces/hnt/frames.hpp"
#include "traces/hnt/trace_writer.hpp"

namespace homenode {
using namespace format;

namespace {

template <class Entry>
void append(Decoder& in, std::vector<Entry>& table) {
  const std::uint64_t n = in.count(1);
  for (std::uint64_t i = 0; i < n; ++i) get(in, table.emplace_back());
}

Decoder decoder(const std::filesystem::path& path, const Frame& frame) {
  return {frame.bytes.data(), frame.bytes.size(), place(path, frame.offset, std::string{"("} + frame_name(frame.type) + ")")};
}

class TraceFile final : public Workload {
public:
  explicit TraceFile(const std::filesystem::path& path) : path_{path}, frames_{path} {}

  void read_index() {
    const Frame index = frames_.read(frames_.index_offset());
    Decoder in = decoder(path_, index);
    if (index.type != FrameType::index) in.fail("stands where the index should be");
    const std::uint64_t tables = in.count(1);
    for (std::uint64_t i = 0; i < tables; ++i) {
      const Frame table = frames_.read(in.u64());
      if (!read_table(table)) decoder(path_, table).fail("stands where a table should be");
    }
    const std::uint64_t n = in.count(8);
    for (std::uint64_t i = 0; i < n; ++i) {
      offsets_.push_back(in.u64());
      get(in, executions.emplace_back(), regions.size());
    }
    if (!in.finished()) in.fail("has bytes behind its last entry");
  }

  // False: not a table.
  bool read_table(const Frame& frame) {
    Decoder in = decoder(path_, frame);
    switch (frame.type) {
      case FrameType::meta:
        get_meta(in, *this);
        break;
      case FrameType::sites:
        append(in, sites);
        break;
      case FrameType::threads:
        append(in, threads);
        break;
      case FrameType::objects:
        append(in, objects);
        break;
      case FrameType::regions:
        append(in, regions);
        break;
      case FrameType::patterns:
        append(in, patterns);
        break;
      case FrameType::losses:
        append(in, losses);
        break;
      default:
        if (frame.type == FrameType::execution || frame.type == FrameType::index) return false;
        if (frame.flags & critical)
          in.fail("is of type " + std::to_string(static_cast<unsigned>(frame.type)) +
                  ", which this version does not know and must not skip");
        return true;
    }
    if (!in.finished()) in.fail("has bytes behind its last entry");
    return true;
  }

  std::shared_ptr<const ExecutionBody> body(ExecutionId id) const override {
    {
      const std::lock_guard lock{mutex_};
      for (const auto& [known, body] : recent_) {
        if (known == id) return body;
      }
    }
    auto body = std::make_shared<ExecutionBody>();
    const Frame frame = frames_.read(offsets_.at(id.index()));
    Decoder in = decoder(path_, frame);
    if (frame.type != FrameType::execution) in.fail("stands where an execution should be");
    Execution execution;
    get(in, execution, regions.size());
    get(in, *body, *this);
    const std::lock_guard lock{mutex_};
    recent_.emplace_front(id, body);
    if (recent_.size() > kept_bodies) recent_.pop_back();
    return body;
  }

  std::size_t recover(const std::filesystem::path& to) {
    std::map<std::size_t, ExecutionBody> bodies;
    Frame frame;
    std::uint64_t offset = file_header_bytes;
    complete = false;
    for (; frames_.whole(offset, frame); offset = frame.next) {
      if (frame.type == FrameType::index) break;
      if (frame.type != FrameType::execution) {
        read_table(frame);
        complete = false;
        continue;
      }
      Decoder in = decoder(path_, frame);
      get(in, executions.emplace_back(), regions.size());
      offsets_.push_back(offset);
    }
    TraceWriter writer{to};
    for (std::size_t i = 0; i < executions.size(); ++i) writer.add(*this, executions[i], *body(ExecutionId{i}));
    writer.finish(*this);
    return executions.size();
  }

private:
  static constexpr std::size_t kept_bodies = 8;
  std::filesystem::path path_;
  FrameReader frames_;
  std::vector<std::uint64_t> offsets_;
  mutable std::mutex mutex_;
  mutable std::deque<std::pair<ExecutionId, std::shared_ptr<const ExecutionBody>>> recent_;
};

}  // namespace

std::shared_ptr<Workload> open_trace(const std::filesystem::path& path) {
  auto file = std::make_shared<TraceFile>(path);
  file->read_index();
  return file;
}

std::size_t recover_trace(const std::filesystem::path& from, const std::filesystem::path& to) { return TraceFile{from}.recover(to); }

}  // namespace homenode
