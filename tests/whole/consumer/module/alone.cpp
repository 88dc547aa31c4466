// SPDX-License-Identifier: MIT
// A user's unit that imports only the module, with no header beside it.
import headroom;

struct point {
    int x = 0;
};

template <class Vector>
int use(Vector& a, Vector& b) {
    a.push_back(1);
    a.push_back(2);
    b.push_back(3);
    int sum = 0;
    for (const int each : a) sum += each;
    for (auto at = a.begin(); at != a.end(); ++at) sum += *at;
    if (sum != 6 || !(a.begin() == a.begin()) || !(a.begin() < a.end()) || a.end() - a.begin() != 2) return 1;
    if (*(a.begin() + 1) != 2 || !(a.cbegin() == a.begin())) return 2;
    if (!(a < b) || a > b || !(a <= b) || a >= b || a == b || !(a != b)) return 3;
    swap(a, b);
    if (a.size() != 1 || b.size() != 2 || erase(b, 1) != 1 || b.front() != 2) return 4;
    return 0;
}

int alone() {
    headroom::vector<int> a, b;
    headroom::settled_vector<int> c, d;
    headroom::vector<point> points(3);
    headroom::vector<point> others;
    swap(points, others);
    if (others.size() != 3) return 5;
    headroom::concurrent_vector<int> together;
    together.push_back(7);
    for (const int each : together) {
        if (each != 7) return 6;
    }
    const headroom::commit_policy policy = headroom::least_memory();
    if (!(policy == headroom::least_memory())) return 7;
    headroom::small_vector<int, 2> e, f;
    const int of_vectors = use(a, b);
    if (of_vectors != 0) return of_vectors;
    const int of_settled = use(c, d);
    return of_settled != 0 ? of_settled : use(e, f);
}
