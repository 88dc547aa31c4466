"""Result files in, figures out; and the documents' own figures."""
