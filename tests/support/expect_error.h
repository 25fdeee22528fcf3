// EXPECT_ERROR(statement, code, part): it throws penstock::Error with this code and a text that contains `part`.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/error.h>

#define EXPECT_ERROR(statement, expected_code, part)                        \
  do {                                                                      \
    try {                                                                   \
      statement;                                                            \
      ADD_FAILURE() << #statement " threw nothing";                         \
    } catch (const ::penstock::Error& error_thrown) {                       \
      EXPECT_EQ(error_thrown.code(), expected_code) << error_thrown.what(); \
      EXPECT_THAT(error_thrown.what(), ::testing::HasSubstr(part));         \
    }                                                                       \
  } while (false)
