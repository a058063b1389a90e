#include "traces/analysis/names.hpp"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

namespace {

SourcePlace place(const llvm::DILocation* location) {
  if (!location) return {};
  return {location->getFilename().str(), location->getLine()};
}

bool is_standard(llvm::StringRef mangled) {
  const std::string_view name(mangled.data(), mangled.size());
  return name.starts_with("_ZSt") || name.starts_with("_ZNSt") || name.starts_with("_ZNKSt") || name.starts_with("_ZN9__gnu_cxx");
}

std::string at(const SourcePlace& place) {
  const auto name = place.file.substr(place.file.rfind('/') + 1);
  return name.empty() ? "" : " (" + name + ":" + std::to_string(place.line) + ")";
}

}  // namespace

SourcePlace inner_place(const llvm::Instruction& instruction) { return place(instruction.getDebugLoc().get()); }

SourcePlace outer_place(const llvm::Instruction& instruction) {
  const auto* location = instruction.getDebugLoc().get();
  while (location && location->getInlinedAt()) location = location->getInlinedAt();
  return place(location);
}

std::string routine_name(const PointsTo& points_to, const llvm::Function& function) {
  // std::thread runs a function of its own, in which the user's is called or inlined.
  if (is_standard(function.getName())) {
    for (const auto& each : llvm::instructions(function)) {
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&each)) {
        for (const auto* callee : points_to.callees(call))
          if (!is_standard(callee->getName())) return llvm::demangle(callee->getName().str());
      }
      for (const auto* location = each.getDebugLoc().get(); location && location->getInlinedAt(); location = location->getInlinedAt()) {
        const auto* program = location->getScope()->getSubprogram();
        const auto name = program->getLinkageName().empty() ? program->getName() : program->getLinkageName();
        if (!is_standard(name)) return llvm::demangle(name.str());
      }
    }
  }
  return llvm::demangle(function.getName().str());
}

std::string object_name(const PointsTo& points_to, ObjectId object) {
  const auto* allocation = object == outside ? nullptr : points_to.allocation(object);
  if (!allocation) return "memory outside of the bitcode";
  if (llvm::isa<llvm::GlobalValue>(allocation)) return llvm::demangle(allocation->getName().str());
  const auto& made = *llvm::cast<llvm::Instruction>(allocation);
  if (llvm::isa<llvm::AllocaInst>(made))
    return (made.hasName() ? made.getName().str() : std::string("a variable")) + " of " +
           llvm::demangle(made.getFunction()->getName().str());
  const auto name = name_of_callee(llvm::cast<llvm::CallBase>(made));
  return "memory from " + (name.empty() ? std::string("an allocation") : llvm::demangle(std::string(name))) + at(inner_place(made));
}

}  // namespace homenode::analysis
