// ImageNet's pipeline over a file that is not there, and an annotation. Prints "passed", or what is wrong.
#include <penstock/imagenet.h>
#include <penstock/voc.h>

#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ps = penstock;

int main() {
  constexpr std::string_view xml =
      "<annotation><size><width>9</width><height>9</height></size><object><name>cat</name>"
      "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></object></annotation>";
  if (ps::parse_voc(std::as_bytes(std::span(xml))).objects.size() != 1)
    std::cout << "wrong: the annotation has one object\n";

  const ps::imagenet::Config config{.labels = ps::LabelTable::from_names({"n00000001"})};
  auto run = ps::from_vector(std::vector<std::string>{"n00000001/missing.JPEG"})
                 .apply(ps::imagenet::load_train(config))
                 .start();
  try {
    run.next();
    std::cout << "wrong: a missing file is an error\n";
  } catch (const ps::ElementError& error) {
    std::cout << (ps::code_of(error.cause()) == ps::ErrorCode::not_found ? "passed" : error.what()) << '\n';
  }
}
