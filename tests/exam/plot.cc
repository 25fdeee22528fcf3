#include "tests/exam/plot.h"

#include <algorithm>
#include <cstdio>

#include "tests/exam/simulated_process.h"

namespace penstock::exam {
namespace {

constexpr int kSteps = 300;
constexpr double kWidth = 330, kHeight = 130, kLeft = 46, kTop = 26, kGap = 26;
const char* const kColours[] = {"#0b62a4", "#c44e00", "#2e8b57", "#8e44ad", "#b8860b", "#c2185b", "#607d8b"};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string line_of(const std::vector<double>& values, double most, const std::string& style) {
  std::string points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = kWidth * static_cast<double>(i) / static_cast<double>(values.size() - 1);
    const double y = kHeight * (1 - std::min(values[i] / most, 1.0));
    points += number(x) + "," + number(y) + " ";
  }
  return "<polyline fill=\"none\" " + style + " points=\"" + points + "\"/>\n";
}

std::string label(double x, double y, const std::string& text, const std::string& more = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + more + ">" + text + "</text>\n";
}

double most_of(const std::vector<const std::vector<double>*>& all) {
  double most = 1e-9;
  for (const auto* values : all) most = std::max(most, *std::ranges::max_element(*values));
  return 1.05 * most;
}

std::string panel(double left, double top, const std::string& title, double seconds, const Figure& figure,
                  std::vector<double> Curve::*values, bool with_best) {
  std::vector<const std::vector<double>*> all;
  for (const Curve& curve : figure.curves) all.push_back(&(curve.*values));
  if (with_best) all.push_back(&figure.best);
  const double most = most_of(all);
  std::string svg = "<g transform=\"translate(" + number(left) + "," + number(top) + ")\">\n";
  svg += "<rect width=\"" + number(kWidth) + "\" height=\"" + number(kHeight) + "\" fill=\"none\" stroke=\"#999\"/>\n";
  svg += label(0, -6, title) + label(-4, 10, number(most), "text-anchor=\"end\"") +
         label(-4, kHeight, "0", "text-anchor=\"end\"");
  svg += label(kWidth, kHeight + 12, number(seconds) + " s", "text-anchor=\"end\"");
  if (with_best) svg += line_of(figure.best, most, "stroke=\"#000\" stroke-dasharray=\"4 3\"");
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    svg += line_of(figure.curves[i].*values, most, std::string("stroke=\"") + kColours[i % std::size(kColours)] + "\"");
  }
  return svg + "</g>\n";
}

Curve curve_of(const std::string& policy, const std::vector<Sample>& samples, Time duration) {
  Curve curve;
  curve.policy = policy;
  const std::size_t each = std::max<std::size_t>(samples.size() / kSteps, 1);
  const double step =
      static_cast<double>(each) * static_cast<double>(duration) * 1e-9 / static_cast<double>(samples.size());
  std::int64_t taken = 0;
  for (std::size_t end = each; end <= samples.size(); end += each) {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    for (std::size_t i = end - each; i < end; ++i) {
      calls = std::max(calls, samples[i].calls);
      bytes = std::max(bytes, samples[i].bytes);
    }
    curve.rate.push_back(static_cast<double>(samples[end - 1].taken - taken) / step);
    curve.calls.push_back(static_cast<double>(calls));
    curve.bytes.push_back(static_cast<double>(bytes) * 1e-6);
    taken = samples[end - 1].taken;
  }
  return curve;
}

}  // namespace

Figure figure_of(const Scenario& scenario, const std::vector<PhaseFacts>& facts,
                 const std::vector<std::string>& policies) {
  Figure figure;
  figure.title = scenario.id + ": " + scenario.what;
  figure.seconds = static_cast<double>(scenario.duration) * 1e-9;
  for (const std::string& policy : policies) {
    SimulatedProcess process(scenario.process, 1);
    process.run(0).steer(policy_of(policy, scenario, facts));
    process.run_until(scenario.duration);
    figure.curves.push_back(curve_of(policy, process.run(0).samples(), scenario.duration));
  }
  const std::vector<Time> begins = phases(scenario);
  const std::size_t steps = figure.curves.front().rate.size();
  for (std::size_t i = 0; i < steps; ++i) {
    const Time time = scenario.duration / static_cast<Time>(steps) * static_cast<Time>(i);
    const auto phase = static_cast<std::size_t>(std::ranges::upper_bound(begins, time) - begins.begin()) - 1;
    figure.best.push_back(facts[phase].optimum.rate);
  }
  return figure;
}

std::string svg_of(const std::vector<Figure>& figures) {
  const double row = kHeight + kTop + kGap + 16;
  const double width = 3 * (kWidth + kLeft + 20);
  std::string body;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    const double top = 40 + static_cast<double>(i) * row + kTop;
    const auto left = [](int column) { return kLeft + column * (kWidth + kLeft + 20); };
    body += label(4, top - 20, figure.title, "font-weight=\"bold\"");
    body +=
        panel(left(0), top, "elements/s, dashed: the best fixed settings", figure.seconds, figure, &Curve::rate, true);
    body += panel(left(1), top, "calls under way", figure.seconds, figure, &Curve::calls, false);
    body += panel(left(2), top, "MB", figure.seconds, figure, &Curve::bytes, false);
  }
  std::string legend;
  for (std::size_t i = 0; !figures.empty() && i < figures.front().curves.size(); ++i) {
    legend += label(60 + 130 * static_cast<double>(i), 18, figures.front().curves[i].policy,
                    std::string("fill=\"") + kColours[i % std::size(kColours)] + "\" font-weight=\"bold\"");
  }
  const double height = 60 + static_cast<double>(figures.size()) * row;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
         "\" font-family=\"sans-serif\" font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
         legend + body + "</svg>\n";
}

}  // namespace penstock::exam
