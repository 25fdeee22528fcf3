// What each program of compile_time.txt begins with.
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/penstock.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace ps = penstock;
