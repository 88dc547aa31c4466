// SPDX-License-Identifier: MIT
#include <headroom/concurrent_vector.hpp>
#include <cstddef>
#include <iostream>
#include <thread>

int main() {
    constexpr std::size_t terms = 20;
    constexpr double x = 1;
    headroom::concurrent_vector<double> powers, factorials;
    std::thread first([&] {
        double power = 1;
        for (std::size_t i = 0; i < terms; ++i, power *= x) powers.push_back(power);
    });
    std::thread second([&] {
        double factorial = 1;
        for (std::size_t i = 1; i <= terms; ++i, factorial *= static_cast<double>(i - 1)) factorials.push_back(factorial);
    });
    double sum = 0;
    for (std::size_t i = 0; i < terms; ++i) {
        powers.wait_for(i + 1);    // returns at once where it is there, and sleeps until it is
        factorials.wait_for(i + 1);
        sum += powers[i] / factorials[i];
    }
    first.join();
    second.join();
    std::cout << "e is about " << sum << '\n';
}
