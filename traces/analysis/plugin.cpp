// NUMA-BTLP as a pass of LLVM's new pass manager: `opt -load-pass-plugin=… -passes=numa-btlp` prints what it found as JSON;
// `numa-btlp<bind>` inserts the calls that bind threads, too.
#include <llvm/Config/llvm-config.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "traces/analysis/affinity_calls.hpp"

namespace {

class NumaBtlp : public llvm::PassInfoMixin<NumaBtlp> {
public:
  explicit NumaBtlp(bool bind) : bind_(bind) {}

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) const {
    using namespace homenode::analysis;
    auto& functions = analyses.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
    const PointsTo points_to(module);
    Summaries summaries(points_to, functions);
    const auto result = analyse(module, summaries);
    write_report(result, points_to, llvm::outs());
    llvm::outs().flush();
    if (!bind_ || result.tree.empty()) return llvm::PreservedAnalyses::all();
    insert_affinity_calls(module, result, summaries);
    return llvm::PreservedAnalyses::none();
  }

private:
  bool bind_;
};

void register_pass(llvm::PassBuilder& builder) {
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::ModulePassManager& passes, llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name != "numa-btlp" && name != "numa-btlp<bind>") return false;
        passes.addPass(NumaBtlp(name != "numa-btlp"));
        return true;
      });
}

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "homenode-numa-btlp", LLVM_VERSION_STRING, register_pass};
}
