#include "traces/capture/assembler/names.hpp"

#include <gtest/gtest.h>

namespace homenode {
namespace {

TEST(ReadableName, IsTheSymbolInC) {
  EXPECT_EQ(readable_name("sweep", false), "sweep");
  EXPECT_EQ(readable_name("sweep._omp_fn.0", false), "sweep._omp_fn.0");
  EXPECT_EQ(readable_name("sweep.constprop.0", false), "sweep");
  EXPECT_EQ(readable_name("sweep._omp_fn.0.isra.0", false), "sweep._omp_fn.0");
  EXPECT_EQ(readable_name("dgemm_", false), "dgemm_");  // a C program may call so what it likes
}

TEST(ReadableName, HasNoSignatureInCxx) {
  EXPECT_EQ(readable_name("_ZN4grid5sweepERSt6vectorIdSaIdEEi", false), "grid::sweep");   // grid::sweep(std::vector<double>&, int)
  EXPECT_EQ(readable_name("_ZNK4grid4sizeEv._omp_fn.1", false), "grid::size._omp_fn.1");  // grid::size() const
  EXPECT_EQ(readable_name("_Z5applyIiEvT_", false), "apply<int>");                        // void apply<int>(int)
  EXPECT_EQ(readable_name("_Z5applyIijEvT_T0_", false), "apply<int,unsigned_int>");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_14fillEPd", false), "(anonymous_namespace)::fill");
  EXPECT_EQ(readable_name("_ZZ4mainENKUliE_clEi", false), "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(readable_name("_ZN4grid4dataE", false), "grid::data");
  EXPECT_EQ(readable_name("_Zno symbol", false), "_Zno symbol");
}

TEST(ReadableName, IsTheProceduresInFortran) {
  EXPECT_EQ(readable_name("MAIN__", true), "main");
  EXPECT_EQ(readable_name("sweep_", true), "sweep");
  EXPECT_EQ(readable_name("sweep_._omp_fn.0", true), "sweep._omp_fn.0");
  EXPECT_EQ(readable_name("__heat_MOD_sweep", true), "heat::sweep");
  EXPECT_EQ(readable_name("__heat_MOD_field", false), "heat::field");
}

TEST(Names, WhatIsNoUtf8IsEscaped) {
  EXPECT_EQ(as_utf8("plain"), "plain");
  EXPECT_EQ(as_utf8("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"), "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(as_utf8("caf\xE9"), "caf\\xe9");
  // cut off, overlong, a surrogate, beyond the last character
  EXPECT_EQ(as_utf8("\xC3"), "\\xc3");
  EXPECT_EQ(as_utf8("\xC0\x80"), "\\xc0\\x80");
  EXPECT_EQ(as_utf8("\xE0\x80\x80"), "\\xe0\\x80\\x80");
  EXPECT_EQ(as_utf8("\xED\xA0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(as_utf8("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

}  // namespace
}  // namespace homenode
