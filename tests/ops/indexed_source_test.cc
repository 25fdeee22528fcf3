#include <penstock/ops.h>
#include <penstock/sources.h>

#include "lib/graph/node.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

const SourceOp& source_of(const graph::NodeRef& node) { return dynamic_cast<const SourceOp&>(node->op()); }

TEST(IndexedSource, ServesCopiesOfAVectorInAnyOrder) {
  const auto dataset = from_vector(std::vector<std::string>{"a", "b", "c"});
  const IndexedSource* source = source_of(dataset.node()).indexed();
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->size(), 3);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(source->at(2).take<std::string>(), "c");
  EXPECT_EQ(source->at(0).take<std::string>(), "a");
}

TEST(IndexedSource, NamesElementsThatAreStrings) {
  EXPECT_EQ(source_of(from_vector(std::vector<std::string>{"a.jpg"}).node()).indexed()->origin(0), "a.jpg");
  EXPECT_EQ(source_of(from_vector(std::vector<int>{7}).node()).indexed()->origin(0), "");
}

TEST(IndexedSource, HasNoReader) { EXPECT_EQ(source_of(from_vector(std::vector<int>{1}).node()).open(), nullptr); }

TEST(IndexedSource, KnowsItsCardinalityButNotTheRowsOfItsElements) {
  const auto node = from_vector(std::vector<int>{4, 5}).node();
  EXPECT_EQ(node->flow().cardinality, 2);
  EXPECT_EQ(node->flow().leading_dimension, UNKNOWN_CARDINALITY);
  EXPECT_EQ(from_vector(std::vector<int>{}).cardinality(), 0);
}

TEST(IndexedSource, RefusesANullPointer) {
  EXPECT_ERROR(ops::indexed_source("mine", "", nullptr), ErrorCode::invalid_argument, "null pointer");
}

}  // namespace
}  // namespace penstock
