#include "traces/analysis/dependences.hpp"

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "traces/analysis/library_calls.hpp"
#include "traces/analysis/lifetime.hpp"

namespace homenode::analysis {

namespace {

// An access as one thread does it.
struct ThreadAccess {
  const Access* access;
  llvm::Function* function;
  bool certain;
  Access::Base base;
  ByteRange bytes;
  std::optional<ByteRange> first;
};

class Finder {
public:
  Finder(const std::vector<ThreadNode>& tree, Summaries& summaries) : tree_(tree), summaries_(summaries) {
    find_shared();
    for (std::size_t node = 0; node < tree.size(); ++node) {
      accesses_.push_back(accesses_of(node));
      touched_.emplace_back();
      for (const auto& each : accesses_.back()) touched_.back().insert(each.access->objects.begin(), each.access->objects.end());
    }
  }

  std::vector<FoundDependence> find() {
    for (std::size_t one = 0; one < tree_.size(); ++one)
      for (std::size_t other = one; other < tree_.size(); ++other) {
        if (one == other && !tree_[one].many) continue;
        const auto son = son_towards(one, other);
        if (!son)
          compare(one, other, accesses_[one], accesses_[other]);
        else
          compare(one, other, beside(one, *son, other), accesses_[other]);
      }
    return std::move(found_);
  }

private:
  // Reached from a global variable, from a thread's argument or from what is outside of the bitcode.
  void find_shared() {
    const auto& points_to = summaries_.points_to();
    std::vector<Target> roots{{outside, false}};
    for (ObjectId object = 1; object < points_to.objects(); ++object)
      if (llvm::isa<llvm::GlobalVariable>(points_to.allocation(object))) roots.push_back({object, true});
    for (const auto& node : tree_) {
      if (!node.creation) continue;
      for (const auto& argument : node.routine->args()) {
        const auto targets = points_to.targets(&argument);
        roots.insert(roots.end(), targets.begin(), targets.end());
      }
    }
    shared_ = points_to.reachable(roots);
    // The state that std::thread makes for one thread is handed over whole.
    for (const auto& node : tree_)
      if (node.creation && is_std_thread(*node.creation))
        for (const auto& argument : node.routine->args())
          for (const auto& target : points_to.targets(&argument))
            if (target.object != outside) shared_.erase(target.object);
  }

  bool is_shared(const Access& access) const {
    return std::any_of(access.objects.begin(), access.objects.end(), [&](ObjectId object) { return shared_.count(object) != 0; });
  }

  std::vector<ThreadAccess> accesses_of(std::size_t node) {
    std::vector<ThreadAccess> result;
    for (const auto& [function, certain] : ordered_closure(*tree_[node].routine))
      for (const auto& access : summaries_.of(*function).accesses)
        if (is_shared(access)) result.push_back(in_thread(node, access, *function, certain));
    return result;
  }

  std::vector<std::pair<llvm::Function*, bool>> ordered_closure(llvm::Function& routine) {
    std::vector<std::pair<llvm::Function*, bool>> result;
    const auto& closure = summaries_.closure(routine);
    for (auto& function : *routine.getParent())
      if (const auto found = closure.find(&function); found != closure.end()) result.emplace_back(*found);
    return result;
  }

  ThreadAccess in_thread(std::size_t node, const Access& access, llvm::Function& function, bool certain) {
    ThreadAccess result{.access = &access,
                        .function = &function,
                        .certain = access.certain && certain,
                        .base = access.base,
                        .bytes = access.bytes,
                        .first = access.first};
    if (access.base != Access::Base::argument) return result;
    const bool own_argument = &function == tree_[node].routine && tree_[node].creation != nullptr;
    if (own_argument && stride(node) != std::optional<std::int64_t>(0)) return result;
    // The same for all threads of the node, or an ordinary function's: what it points to, if that is the start of one object.
    const auto targets = summaries_.points_to().targets(function.getArg(0));
    result.base = targets.size() == 1 && targets.front().at_start ? Access::Base::object : Access::Base::unknown;
    return result;
  }

  std::optional<std::int64_t> stride(std::size_t node) { return creation_addresses(*tree_[node].creation, summaries_.analyses()).stride; }

  // The son of `above` on the way down to `below`; none when `above` is no ancestor.
  std::optional<std::size_t> son_towards(std::size_t above, std::size_t below) const {
    for (auto node = below; tree_[node].generator; node = *tree_[node].generator)
      if (*tree_[node].generator == above) return node;
    return std::nullopt;
  }

  // What an ancestor does while the thread may run, without what it hands over at creation and join.
  std::vector<ThreadAccess> beside(std::size_t ancestor, std::size_t son, std::size_t thread) {
    const auto& creation = *tree_[son].creation;
    auto meanwhile = lifetime(creation, *tree_[ancestor].routine, summaries_);
    std::vector<ThreadAccess> result;
    for (const auto& each : accesses_[ancestor]) {
      if (!meanwhile.contains(each.access->at) || (son == thread && only_hands_over(*each.access, thread))) continue;
      result.push_back(each);
      result.back().certain = each.certain && always_after(creation, *each.access->at);
    }
    return result;
  }

  bool always_after(const llvm::CallBase& creation, const llvm::Instruction& at) {
    auto& function = *const_cast<llvm::Function*>(creation.getFunction());
    return at.getFunction() == &function &&
           summaries_.analyses().getResult<llvm::DominatorTreeAnalysis>(function).dominates(&creation, &at);
  }

  // Whether the access concerns the arguments of threads that do not run then, and the thread keeps to its own argument.
  bool only_hands_over(const Access& access, std::size_t thread) {
    if (std::none_of(access.objects.begin(), access.objects.end(), [&](ObjectId object) { return touched_[thread].count(object) != 0; }))
      return true;
    const auto addresses = creation_addresses(*tree_[thread].creation, summaries_.analyses());
    if (!handed_over(access, *tree_[thread].creation, summaries_)) return false;
    return std::none_of(accesses_[thread].begin(), accesses_[thread].end(), [&](const ThreadAccess& other) {
      if (!common_object(access, *other.access) || other.base == Access::Base::own) return false;
      if (other.base != Access::Base::argument) return true;
      return !addresses.fresh && addresses.stride && !ByteRange{0, *addresses.stride}.contains(other.bytes);
    });
  }

  std::optional<ObjectId> common_object(const Access& one, const Access& other) const {
    auto a = one.objects.begin(), b = other.objects.begin();
    while (a != one.objects.end() && b != other.objects.end()) {
      if (*a < *b)
        ++a;
      else if (*b < *a)
        ++b;
      else if (shared_.count(*a))
        return *a;
      else
        ++a;
    }
    return std::nullopt;
  }

  void compare(std::size_t one, std::size_t other, const std::vector<ThreadAccess>& ones, const std::vector<ThreadAccess>& others) {
    record(one, other, ones, others);
    if (one != other) record(other, one, others, ones);
  }

  void record(std::size_t writer, std::size_t reader, const std::vector<ThreadAccess>& writes, const std::vector<ThreadAccess>& reads) {
    std::optional<FoundDependence> best;
    for (const auto& write : writes) {
      if (!write.access->writes) continue;
      for (const auto& read : reads) {
        if (!read.access->reads || (best && !(write.certain && read.certain))) continue;
        const auto object = common_object(*write.access, *read.access);
        if (!object || apart(writer, write, reader, read)) continue;
        const auto certainty = is_certain(write, read, *object) ? Certainty::certain : Certainty::possible;
        if (!best || best->between.certainty < certainty) best = {{writer, reader, certainty}, *object, write.access, read.access};
        if (certainty == Certainty::certain) break;
      }
      if (best && best->between.certainty == Certainty::certain) break;
    }
    if (best) found_.push_back(*best);
  }

  // Whether two different threads never touch the same bytes.
  bool apart(std::size_t writer, const ThreadAccess& write, std::size_t reader, const ThreadAccess& read) {
    using Base = Access::Base;
    if (write.base == Base::own && read.base == Base::own) return true;
    if (write.base == Base::argument && read.base == Base::argument && tree_[writer].creation == tree_[reader].creation)
      return apart_by_argument(writer, write, read);
    const auto from_start = [](const ThreadAccess& each) { return each.base == Base::object || each.base == Base::own; };
    const bool one_start =
        from_start(write) && from_start(read) && write.access->objects.size() == 1 && write.access->objects == read.access->objects;
    return one_start && !write.bytes.overlaps(read.bytes);
  }

  bool apart_by_argument(std::size_t node, const ThreadAccess& write, const ThreadAccess& read) {
    const auto addresses = creation_addresses(*tree_[node].creation, summaries_.analyses());
    if (addresses.fresh) return true;
    if (!addresses.stride) return false;
    const ByteRange element{0, std::abs(*addresses.stride)};
    if (!element.contains(write.bytes) || !element.contains(read.bytes)) return false;
    // The same element is used again where the loop itself runs again; then the bytes must differ.
    const bool again = tree_[node].many && (!addresses.loop || addresses.loop->getParentLoop() || tree_[*tree_[node].generator].many);
    return !again || !write.bytes.overlaps(read.bytes);
  }

  bool is_certain(const ThreadAccess& write, const ThreadAccess& read, ObjectId object) const {
    if (!write.certain || !read.certain || !is_single(object)) return false;
    const auto knows = [&](const ThreadAccess& each) {
      const bool from_start = each.base == Access::Base::object || each.base == Access::Base::own;
      return from_start && each.first && each.access->objects.size() == 1;
    };
    return knows(write) && knows(read) && write.first->overlaps(*read.first);
  }

  // One object in the whole run: a global variable, or what main makes once.
  bool is_single(ObjectId object) const {
    const auto* allocation = object == outside ? nullptr : summaries_.points_to().allocation(object);
    if (!allocation || llvm::isa<llvm::GlobalVariable>(allocation)) return allocation != nullptr;
    const auto* made = llvm::dyn_cast<llvm::Instruction>(allocation);
    if (!made || made->getFunction() != tree_[0].routine) return false;
    auto& loops = summaries_.analyses().getResult<llvm::LoopAnalysis>(*tree_[0].routine);
    return llvm::isa<llvm::AllocaInst>(made) || !loops.getLoopFor(made->getParent());
  }

  const std::vector<ThreadNode>& tree_;
  Summaries& summaries_;
  std::set<ObjectId> shared_;
  std::vector<std::vector<ThreadAccess>> accesses_;
  std::vector<std::set<ObjectId>> touched_;
  std::vector<FoundDependence> found_;
};

}  // namespace

std::vector<FoundDependence> find_dependences(const std::vector<ThreadNode>& tree, Summaries& summaries) {
  return Finder(tree, summaries).find();
}

}  // namespace homenode::analysis
