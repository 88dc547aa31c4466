// SPDX-License-Identifier: MIT
// Finds short round trips through places drawn at random: how many trips, and through how many places, says the command line.
#include <lemon/christofides_tsp.h>
#include <lemon/full_graph.h>
#include <lemon/opt2_tsp.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int, char** arguments) {
    const int trips = std::atoi(arguments[1]);
    const int places = std::atoi(arguments[2]);
    std::uint64_t state = 1;
    const auto some = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>((state >> 33) % 10000);
    };
    double length = 0;
    for (int trip = 0; trip < trips; ++trip) {
        lemon::FullGraph graph(places);
        lemon::FullGraph::NodeMap<double> x(graph), y(graph);
        for (int i = 0; i < places; ++i) {
            x[graph(i)] = some();
            y[graph(i)] = some();
        }
        lemon::FullGraph::EdgeMap<int> distance(graph);
        for (lemon::FullGraph::EdgeIt edge(graph); edge != lemon::INVALID; ++edge) {
            distance[edge] =
                static_cast<int>(std::hypot(x[graph.u(edge)] - x[graph.v(edge)], y[graph.u(edge)] - y[graph.v(edge)]));
        }
        lemon::ChristofidesTsp<lemon::FullGraph::EdgeMap<int>> first(graph, distance);
        first.run();
        std::vector<lemon::FullGraph::Node> order;
        first.tourNodes(std::back_inserter(order));
        lemon::Opt2Tsp<lemon::FullGraph::EdgeMap<int>> better(graph, distance);
        better.run(order);
        length += better.tourCost();
    }
    std::printf("%.0f\n", length);
}
