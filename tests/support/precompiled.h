// What most tests include, compiled once for all of them (PENSTOCK_PRECOMPILED_HEADERS). A test includes what it uses
// all the same: it is also built without this, and tests/layering/own_includes.py looks for what a file forgets.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>
