#include "traces/analysis/library_calls.hpp"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>
#if __has_include(<llvm/TargetParser/Triple.h>)
#include <llvm/TargetParser/Triple.h>
#else
#include <llvm/ADT/Triple.h>
#endif

namespace homenode::analysis {

namespace {

std::string_view view(llvm::StringRef text) { return {text.data(), text.size()}; }

constexpr std::string_view std_thread_start = "_ZNSt6thread15_M_start_thread";
constexpr std::string_view std_thread_join = "_ZNSt6thread4joinEv";

constexpr std::array<std::string_view, 19> synchronisation_prefixes = {"_ZNSt18condition_variable",
                                                                       "pthread_attr",
                                                                       "pthread_barrier",
                                                                       "pthread_cancel",
                                                                       "pthread_cond",
                                                                       "pthread_detach",
                                                                       "pthread_equal",
                                                                       "pthread_exit",
                                                                       "pthread_get",
                                                                       "pthread_key",
                                                                       "pthread_kill",
                                                                       "pthread_mutex",
                                                                       "pthread_once",
                                                                       "pthread_rwlock",
                                                                       "pthread_self",
                                                                       "pthread_set",
                                                                       "pthread_sigmask",
                                                                       "pthread_spin",
                                                                       "sem_"};

// Beyond what LLVM's TargetLibraryInfo lists.
constexpr std::array<std::string_view, 99> known_names = {"_ZNSt6chrono3_V212steady_clock3nowEv",
                                                          "_ZNSt6chrono3_V212system_clock3nowEv",
                                                          "_ZNSt6thread20hardware_concurrencyEv",
                                                          "_ZNSt6thread6_StateD2Ev",
                                                          "_ZNSt6thread6detachEv",
                                                          "_ZNSt6threadD1Ev",
                                                          "_ZSt17__throw_bad_allocv",
                                                          "_ZSt9terminatev",
                                                          "__assert_fail",
                                                          "__clang_call_terminate",
                                                          "__ctype_b_loc",
                                                          "__ctype_tolower_loc",
                                                          "__ctype_toupper_loc",
                                                          "__cxa_atexit",
                                                          "__errno_location",
                                                          "__sched_cpucount",
                                                          "__xpg_strerror_r",
                                                          "_exit",
                                                          "abort",
                                                          "alarm",
                                                          "aligned_alloc",
                                                          "atexit",
                                                          "bindtextdomain",
                                                          "clock",
                                                          "clock_gettime",
                                                          "clock_nanosleep",
                                                          "close",
                                                          "dcgettext",
                                                          "dup",
                                                          "dup2",
                                                          "exit",
                                                          "fchmod",
                                                          "fchown",
                                                          "fcntl",
                                                          "fcntl64",
                                                          "fdatasync",
                                                          "fsync",
                                                          "futimens",
                                                          "get_nprocs",
                                                          "geteuid",
                                                          "getopt",
                                                          "getopt_long",
                                                          "getpagesize",
                                                          "getpid",
                                                          "getppid",
                                                          "getrlimit",
                                                          "getrusage",
                                                          "gettext",
                                                          "getuid",
                                                          "ioctl",
                                                          "isatty",
                                                          "isoc23_strtol",
                                                          "kill",
                                                          "localtime_r",
                                                          "lseek64",
                                                          "nanosleep",
                                                          "ngettext",
                                                          "nl_langinfo",
                                                          "open64",
                                                          "openat",
                                                          "pause",
                                                          "pipe",
                                                          "poll",
                                                          "posix_fadvise",
                                                          "posix_memalign",
                                                          "pthread_sigmask",
                                                          "raise",
                                                          "rand_r",
                                                          "random_r",
                                                          "sched_getaffinity",
                                                          "sched_getcpu",
                                                          "sched_setaffinity",
                                                          "sched_yield",
                                                          "select",
                                                          "setlocale",
                                                          "setrlimit",
                                                          "sigaction",
                                                          "sigaddset",
                                                          "sigdelset",
                                                          "sigemptyset",
                                                          "sigfillset",
                                                          "sigismember",
                                                          "signal",
                                                          "sigpending",
                                                          "sigprocmask",
                                                          "sigsuspend",
                                                          "sigwait",
                                                          "sleep",
                                                          "strerror",
                                                          "strerror_r",
                                                          "strsignal",
                                                          "strtoumax",
                                                          "sysconf",
                                                          "textdomain",
                                                          "time",
                                                          "umask",
                                                          "usleep",
                                                          "utimensat",
                                                          "utimes"};

// C++'s run-time support (exceptions, guards of statics), and functions that only throw.
bool is_language_support(std::string_view name) {
  return name.starts_with("__cxa_") || name.starts_with("_ZSt") || name.starts_with("__gxx_");
}

// Whether nothing but comparisons is done with the new memory before the function returns it.
bool only_hands_out(const llvm::Function& function) {
  for (const auto& instruction : llvm::instructions(function)) {
    if (!is_allocation(instruction)) continue;
    std::vector<const llvm::Value*> open{&instruction};
    std::set<const llvm::Value*> seen(open.begin(), open.end());
    while (!open.empty()) {
      const auto* value = open.back();
      open.pop_back();
      for (const auto* user : value->users()) {
        if (llvm::isa<llvm::ICmpInst>(user) || llvm::isa<llvm::ReturnInst>(user)) continue;
        if (!llvm::isa<llvm::CastInst>(user) && !llvm::isa<llvm::PHINode>(user) && !llvm::isa<llvm::SelectInst>(user)) return false;
        if (seen.insert(user).second) open.push_back(user);
      }
    }
  }
  return true;
}

}  // namespace

std::string_view name_of_callee(const llvm::CallBase& call) {
  const auto* function = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
  return function ? view(function->getName()) : std::string_view();
}

ThreadCall thread_call(const llvm::CallBase& call) {
  const auto name = name_of_callee(call);
  if (name == "pthread_create" && call.arg_size() == 4) return ThreadCall::create;
  if (name.starts_with(std_thread_start) && call.arg_size() >= 2) return ThreadCall::create;
  if (name == "pthread_join" || name == std_thread_join) return ThreadCall::join;
  return ThreadCall::none;
}

bool is_std_thread(const llvm::CallBase& call) { return name_of_callee(call).starts_with("_ZNSt6thread"); }

llvm::Value* handle_operand(const llvm::CallBase& call) { return call.getArgOperand(0); }

bool is_allocation(const llvm::Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&value);
  if (!call || !call->getType()->isPointerTy() || !call->hasRetAttr(llvm::Attribute::NoAlias)) return false;
  const auto* callee = llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
  return !callee || callee->isDeclaration() || only_hands_out(*callee);
}

bool is_synchronisation(const llvm::CallBase& call) {
  const auto name = name_of_callee(call);
  return std::any_of(synchronisation_prefixes.begin(), synchronisation_prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_known_library(const llvm::Function& function) {
  if (function.isIntrinsic()) return true;
  const auto name = view(function.getName());
  if (std::find(known_names.begin(), known_names.end(), name) != known_names.end() || is_language_support(name)) return true;
  static const llvm::TargetLibraryInfoImpl library{llvm::Triple("x86_64-pc-linux-gnu")};
  llvm::LibFunc found;
  return library.getLibFunc(function.getName(), found);
}

bool is_stream_call(const llvm::CallBase& call) {
  constexpr std::array parts = {"print", "scanf", "put",   "getc",   "gets", "getline", "fwrite", "fread",   "fflush", "fclose",
                                "fopen", "fseek", "ftell", "ferror", "feof", "fileno",  "perror", "setvbuf", "setbuf", "rewind"};
  const auto name = name_of_callee(call);
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return name.find(part) != std::string_view::npos; });
}

bool returns_own_memory(const llvm::CallBase& call) {
  const auto name = name_of_callee(call);
  return name == "__errno_location" || name.starts_with("__ctype_") || name == "llvm.threadlocal.address.p0";
}

}  // namespace homenode::analysis
