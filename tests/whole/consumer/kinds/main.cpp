// SPDX-License-Identifier: MIT
// Calls each part that PARTS names; the one whose number is given makes a mistake.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

bool plain_part(bool mistake);
bool checked_part(bool mistake);
bool sanitised_part(bool mistake);

int main(int count, char** arguments) {
    const int mistaken = count > 1 ? std::atoi(arguments[1]) : -1;
    int number = 0;
    for (bool (*const part)(bool) : {PARTS}) {
        if (!part(number++ == mistaken)) return 1;
    }
    std::puts("ok");
}
