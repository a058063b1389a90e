#include "models/engines/simgrid_module.hpp"

#include <dlfcn.h>

#include <mutex>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

using Entry = BandwidthSharing* (*)(std::size_t, std::size_t);

MakeSharing& maker() {
  static MakeSharing used = simgrid_of_module({});
  return used;
}

Entry load(const std::string& path) {
  if (path.empty())
    throw UsageError(
        "engine 'simgrid' needs SimGrid, which this homenode was built without; allowed: flow (agrees with it within 0.5 %), line; to have "
        "it, "
        "install SimGrid 3.32 or newer (Debian: libsimgrid-dev) and build homenode from its sources");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* said = dlerror();
    throw UsageError("engine 'simgrid' cannot load SimGrid: " + std::string{said != nullptr ? said : "no reason is told"} +
                     "; allowed: flow (agrees with it within 0.5 %), line; to have it, install the version that is named there (Debian 12: "
                     "libsimgrid3.32), or libsimgrid-dev and build homenode from its sources");
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "homenode_simgrid_sharing"));
  if (entry == nullptr) throw UsageError("engine 'simgrid': '" + path + "' is not homenode's library for SimGrid");
  return entry;
}

struct SimgridLibrary {
  explicit SimgridLibrary(std::string where) : path{std::move(where)} {}
  Entry loaded() {
    const std::scoped_lock lock{loading};
    if (entry == nullptr) entry = load(path);
    return entry;
  }

  std::string path;
  std::mutex loading;
  Entry entry = nullptr;  // null until somebody asked
};

}  // namespace

void use_simgrid(MakeSharing make) { maker() = std::move(make); }

MakeSharing simgrid_of_module(std::string path) {
  return [library = std::make_shared<SimgridLibrary>(std::move(path))](std::size_t resources, std::size_t concurrent) {
    return std::unique_ptr<BandwidthSharing>{library->loaded()(resources, concurrent)};
  };
}

std::unique_ptr<BandwidthSharing> simgrid_sharing(std::size_t resources, std::size_t concurrent) { return maker()(resources, concurrent); }

}  // namespace homenode
