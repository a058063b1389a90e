#include "traces/analysis/points_to.hpp"

#include <llvm/IR/InstrTypes.h>

#include <algorithm>

#include "traces/analysis/library_calls.hpp"
#include "traces/analysis/points_to_constraints.hpp"

namespace homenode::analysis {

PointsTo::PointsTo(llvm::Module& module) {
  allocations_.push_back(nullptr);
  contents_.push_back(new_node());
  add_target(contents(outside), bit(outside, false));
  returned_by_routines_ = new_node();
  Constraints(*this).add(module);
  solve();
}

PointsTo::Node PointsTo::new_node() {
  nodes_.emplace_back();
  return static_cast<Node>(nodes_.size() - 1);
}

PointsTo::Node PointsTo::node(const llvm::Value* value) {
  const auto [found, added] = node_of_.try_emplace(value, 0);
  if (!added) return found->second;
  const Node made = new_node();
  node_of_[value] = made;
  return made;
}

ObjectId PointsTo::object(const llvm::Value* allocation) {
  const auto [found, added] = object_of_.try_emplace(allocation, static_cast<ObjectId>(allocations_.size()));
  if (added) {
    allocations_.push_back(allocation);
    contents_.push_back(new_node());
  }
  return found->second;
}

void PointsTo::visit(Node node) {
  if (nodes_[node].queued) return;
  nodes_[node].queued = true;
  queue_.push_back(node);
}

void PointsTo::add_target(Node node, unsigned bit) {
  if (nodes_[node].targets.test_and_set(bit)) visit(node);
}

void PointsTo::add_copy(Node from, Node to) {
  if (from == to || !known_copies_.emplace(from, to).second) return;
  nodes_[from].copies.push_back(to);
  if (nodes_[to].targets |= nodes_[from].targets) visit(to);
}

void PointsTo::add_shift(Node from, Node to) {
  nodes_[from].shifts.push_back(to);
  nodes_[from].done.clear();
  visit(from);
}

void PointsTo::add_load(Node pointer, Node to) {
  nodes_[pointer].loads.push_back(to);
  nodes_[pointer].done.clear();
  visit(pointer);
}

void PointsTo::add_store(Node from, Node pointer) {
  nodes_[pointer].stores.push_back(from);
  nodes_[pointer].done.clear();
  visit(pointer);
}

void PointsTo::add_indirect_call(Node callee, const llvm::CallBase* call) {
  nodes_[callee].calls.push_back(call);
  nodes_[callee].done.clear();
  visit(callee);
}

void PointsTo::add_table_call(Node table, const TableCall& call) {
  nodes_[table].table_calls.push_back(call);
  nodes_[table].done.clear();
  visit(table);
}

void PointsTo::enter(const llvm::CallBase* call, llvm::Function* function) {
  if (thread_call(*call) == ThreadCall::create) return;
  auto& known = callees_[call];
  if (std::find(known.begin(), known.end(), function) != known.end()) return;
  known.push_back(function);
  Constraints(*this).pass(*call, *function);
}

void PointsTo::solve() {
  while (!queue_.empty()) {
    const Node node = queue_.front();
    queue_.pop_front();
    nodes_[node].queued = false;
    const Bits fresh = nodes_[node].targets - nodes_[node].done;
    nodes_[node].done |= nodes_[node].targets;
    // New nodes may be made below: nothing of nodes_ is held across.
    const auto copies = nodes_[node].copies, shifts = nodes_[node].shifts, loads = nodes_[node].loads, stores = nodes_[node].stores;
    const auto calls = nodes_[node].calls;
    const auto table_calls = nodes_[node].table_calls;
    for (const Node to : copies)
      if (nodes_[to].targets |= nodes_[node].targets) visit(to);
    for (const unsigned target : fresh) {
      const ObjectId object = target / 2;
      for (const Node to : shifts) add_target(to, bit(object, false));
      for (const Node to : loads) add_copy(contents(object), to);
      for (const Node from : stores) add_copy(from, contents(object));
      for (const auto* call : calls) Constraints(*this).call_target(*call, allocations_[object]);
      for (const auto& call : table_calls) Constraints(*this).table_target(call, object);
      if (node == contents(outside) && object != outside) {
        // What is outside may store what it knows in all that it knows, and look into it.
        add_copy(contents(object), contents(outside));
        add_copy(contents(outside), contents(object));
        if (const auto* function = llvm::dyn_cast_or_null<llvm::Function>(allocations_[object]))
          for (const auto& parameter : function->args()) add_copy(contents(outside), this->node(&parameter));
      }
    }
  }
}

std::vector<Target> PointsTo::targets(const llvm::Value* value) const {
  std::vector<Target> result;
  value = Constraints::without_casts(value);
  if (const auto found = object_of_.find(value); found != object_of_.end() && llvm::isa<llvm::Constant>(value))
    return {{found->second, true}};
  const auto found = node_of_.find(value);
  if (found == node_of_.end()) return result;
  for (const unsigned target : nodes_[found->second].targets) result.push_back({target / 2, target % 2 == 1});
  return result;
}

const std::vector<llvm::Function*>& PointsTo::callees(const llvm::CallBase* call) const {
  static const std::vector<llvm::Function*> none;
  const auto found = callees_.find(call);
  return found == callees_.end() ? none : found->second;
}

std::vector<llvm::Function*> PointsTo::routines(const llvm::CallBase* call) const {
  const auto& known = callees(call);
  std::vector<llvm::Function*> result(known.begin(), known.end());
  return result;
}

std::set<ObjectId> PointsTo::reachable(const std::vector<Target>& from) const {
  std::set<ObjectId> result;
  std::vector<ObjectId> open;
  const auto add = [&](ObjectId object) {
    if (result.insert(object).second) open.push_back(object);
  };
  for (const auto& target : from) add(target.object);
  while (!open.empty()) {
    const ObjectId object = open.back();
    open.pop_back();
    for (const unsigned target : nodes_[contents_[object]].targets) add(target / 2);
  }
  return result;
}

std::set<ObjectId> PointsTo::held_outside() const { return reachable({{outside, false}}); }

}  // namespace homenode::analysis
