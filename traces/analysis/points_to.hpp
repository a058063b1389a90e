// What each pointer of a whole program may point to: inclusion-based (L. Andersen, 1994), insensitive to the order of statements and
// to fields, except that a pointer to the very start of an object is told from one into it. Memory of functions that are not in the
// bitcode is one object, `outside`, which may hold and reach whatever was passed to them.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SparseBitVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

namespace homenode::analysis {

using ObjectId = unsigned;
constexpr ObjectId outside = 0;

struct Target {
  ObjectId object;
  bool at_start;  // the object's first byte; else anywhere in it
};

class PointsTo {
public:
  explicit PointsTo(llvm::Module&);

  std::vector<Target> targets(const llvm::Value*) const;
  // The defined functions that a call may enter; `unknown` when it may enter others, too.
  const std::vector<llvm::Function*>& callees(const llvm::CallBase*) const;
  bool may_leave(const llvm::CallBase* call) const { return leaving_.count(call) != 0; }
  // Routines that a creation (pthread_create, std::thread) may start, in the module's order.
  std::vector<llvm::Function*> routines(const llvm::CallBase*) const;

  // The alloca, allocating call, global or function that an object stands for; null for `outside`.
  const llvm::Value* allocation(ObjectId object) const { return allocations_[object]; }
  std::size_t objects() const { return allocations_.size(); }
  // Everything that can be reached from the targets through memory, the targets included.
  std::set<ObjectId> reachable(const std::vector<Target>&) const;
  std::set<ObjectId> held_outside() const;

private:
  friend class Constraints;
  using Node = unsigned;
  using Bits = llvm::SparseBitVector<>;
  struct TableCall {
    const llvm::CallBase* call;
    std::uint64_t slot;
    Node from_other_tables;
  };
  static unsigned bit(ObjectId object, bool at_start) { return 2 * object + (at_start ? 1 : 0); }

  Node node(const llvm::Value*);
  Node new_node();
  ObjectId object(const llvm::Value* allocation);
  Node contents(ObjectId object) { return contents_[object]; }
  void add_target(Node, unsigned bit);
  void add_copy(Node from, Node to);
  void add_shift(Node from, Node to);  // the same objects, anywhere in them
  void add_load(Node pointer, Node to);
  void add_store(Node from, Node pointer);
  void add_indirect_call(Node callee, const llvm::CallBase*);
  void add_table_call(Node table, const TableCall&);
  void enter(const llvm::CallBase*, llvm::Function*);
  void solve();
  void visit(Node);

  struct Edges {
    Bits targets, done;
    std::vector<Node> copies, shifts, loads, stores;
    std::vector<const llvm::CallBase*> calls;
    std::vector<TableCall> table_calls;
    bool queued = false;
  };
  std::vector<Edges> nodes_;
  std::deque<Node> queue_;  // the oldest first: a node that many feed is visited when they all have
  std::set<std::pair<Node, Node>> known_copies_;
  llvm::DenseMap<const llvm::Value*, Node> node_of_;
  llvm::DenseMap<const llvm::Value*, ObjectId> object_of_;
  std::vector<const llvm::Value*> allocations_;
  std::vector<Node> contents_;
  llvm::DenseMap<const llvm::CallBase*, std::vector<llvm::Function*>> callees_;
  std::set<const llvm::CallBase*> leaving_;
  std::vector<const llvm::CallBase*> creations_;
  Node returned_by_routines_ = 0;
};

}  // namespace homenode::analysis
