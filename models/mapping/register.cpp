#include "models/mapping/register.hpp"

#include "models/policies.hpp"

namespace homenode {

const Registry<ThreadMapping>& thread_mappings() {
  static const Registry<ThreadMapping> registry = [] {
    Registry<ThreadMapping> r{"mapping"};
    r.add(compact());
    r.add(scatter());
    r.add(unpinned());
    r.add(cores());
    r.add(btdm());
    r.add(treematch());
    r.add(greedy());
    r.add(scotch());
    return r;
  }();
  return registry;
}

}  // namespace homenode
