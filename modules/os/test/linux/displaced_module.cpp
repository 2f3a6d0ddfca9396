// A shared library that is linked to other addresses than where its parts lie in its file.
extern "C" int ouro_displaced_function(int number);
extern "C" int ouro_displaced_function(int number) {
    return number + 1;
}
