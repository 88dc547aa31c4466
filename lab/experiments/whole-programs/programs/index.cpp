// SPDX-License-Identifier: MIT
// Indexes the lines of a file, each as a document, into a folder, and counts the documents that have some of their words.
#include <CLucene.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace lucene;

namespace {

std::wstring wide(const std::string& text) { return {text.begin(), text.end()}; }

}    // namespace

int main(int, char** arguments) {
    analysis::WhitespaceAnalyzer analyzer;
    std::vector<std::string> asked;
    {
        index::IndexWriter writer(arguments[2], &analyzer, true);
        document::Document each;
        std::ifstream file(arguments[1]);
        long number = 0;
        for (std::string line; std::getline(file, line); ++number) {
            if (number % 60 == 0) asked.push_back(line.substr(0, line.find(' ')));
            each.clear();
            each.add(*_CLNEW document::Field(L"name", std::to_wstring(number).c_str(),
                                             document::Field::STORE_YES | document::Field::INDEX_UNTOKENIZED));
            each.add(*_CLNEW document::Field(L"text", wide(line).c_str(),
                                             document::Field::STORE_YES | document::Field::INDEX_TOKENIZED));
            writer.addDocument(&each);
        }
        writer.optimize();
        writer.close();
    }
    index::IndexReader* reader = index::IndexReader::open(arguments[2]);
    search::IndexSearcher searcher(reader);
    std::size_t found = 0;
    for (const std::string& word : asked) {
        index::Term* term = _CLNEW index::Term(L"text", wide(word).c_str());
        search::TermQuery query(term);
        _CLDECDELETE(term);
        search::Hits* hits = searcher.search(&query);
        found += hits->length();
        _CLDELETE(hits);
    }
    searcher.close();
    reader->close();
    _CLDELETE(reader);
    std::printf("%zu of %zu words\n", found, asked.size());
}
