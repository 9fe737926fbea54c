#include <stdio.h>

int main(void)
{
    puts("cuzk " CUZK_VERSION);
    return 0;
}
