/* embed IN OUT NAME: writes the bytes of a file as a C source with `const uint8_t NAME[]` and
 * `const size_t NAME_size`. Used by the build for descriptors. */
#include <stdio.h>
#include <stdlib.h>

static void die(const char *what, const char *name)
{
    fprintf(stderr, "embed: %s %s\n", what, name);
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        die("wants three arguments:", "IN OUT NAME");
    }
    FILE *in = fopen(argv[1], "rb");
    if (!in) {
        die("cannot read", argv[1]);
    }
    FILE *out = fopen(argv[2], "w");
    if (!out) {
        die("cannot write", argv[2]);
    }
    fprintf(out, "#include <stddef.h>\n#include <stdint.h>\n");
    fprintf(out, "extern const uint8_t %s[];\nextern const size_t %s_size;\n", argv[3], argv[3]);
    fprintf(out, "const uint8_t %s[] = {", argv[3]);
    size_t n = 0;
    for (int c; (c = getc(in)) != EOF; n++) {
        fprintf(out, "%s%d,", n % 20 == 0 ? "\n" : "", c);
    }
    fprintf(out, "\n};\nconst size_t %s_size = %zu;\n", argv[3], n);
    if (ferror(in) || fclose(in) != 0 || n == 0) {
        die("cannot read all of", argv[1]);
    }
    if (fclose(out) != 0) {
        die("cannot write all of", argv[2]);
    }
    return 0;
}
