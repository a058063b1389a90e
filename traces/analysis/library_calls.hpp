// What is known of functions that are not in the bitcode: threads, synchronisation, allocation, the C library.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <string_view>

namespace homenode::analysis {

// The name of the function that is called directly; empty for others.
std::string_view name_of_callee(const llvm::CallBase&);

enum class ThreadCall { none, create, join };
// pthread_create and pthread_join, and what std::thread calls in libstdc++.
ThreadCall thread_call(const llvm::CallBase&);
bool is_std_thread(const llvm::CallBase&);
// Where the handle of the created or joined thread is: its address for a creation, the handle or its address for a join.
llvm::Value* handle_operand(const llvm::CallBase&);

// Memory of a new object: marked so by the compiler (malloc, operator new, and what function-attrs found to be like them).
bool is_allocation(const llvm::Value&);
// Mutexes, conditions, barriers, semaphores: no data passes through the call itself.
bool is_synchronisation(const llvm::CallBase&);
// A function of the C library, or of C++'s, whose own state is none of the program's data.
bool is_known_library(const llvm::Function&);
// Of those, one that works on a FILE.
bool is_stream_call(const llvm::CallBase&);
// Returns memory of the calling thread's own or of the library's constants (errno, character tables).
bool returns_own_memory(const llvm::CallBase&);

}  // namespace homenode::analysis
