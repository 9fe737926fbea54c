/* bench_cuda [NAME..]: times the kernels on the current device. */
#include "benches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_row(const char *kernel, const char *size, double ms, double limit_ms)
{
    printf("%-28s %-8s %10.3f ms", kernel, size, ms);
    if (limit_ms > 0) {
        printf(" %10.3f ms %6.2f", limit_ms, ms / limit_ms);
    }
    printf("\n");
    fflush(stdout);
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double bench_time(bench_fn *fn, void *ctx, int repeats)
{
    enum { MAX = 101 };
    float times[MAX];
    cudaEvent_t start, stop;
    repeats = repeats > MAX ? MAX : repeats;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    fn(ctx);
    for (int i = 0; i < repeats; i++) {
        cudaEventRecord(start, NULL);
        fn(ctx);
        cudaEventRecord(stop, NULL);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&times[i], start, stop);
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        fprintf(stderr, "bench_cuda: %s\n", cudaGetErrorString(status));
        return -1;
    }
    qsort(times, (size_t)repeats, sizeof *times, ascending);
    return (double)times[repeats / 2];
}

typedef struct bench {
    const char *name;
    bool (*run)(void);
} bench;

static const bench benches[] = {
#define X(name) {#name, bench_##name},
    BENCH_MAP(X)
#undef X
};

int main(int argc, char **argv)
{
    struct cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        fprintf(stderr, "bench_cuda: no CUDA device\n");
        return 1;
    }
    printf("%s; limits are rates measured on an H200\n", device.name);
    printf("%-28s %-8s %13s %13s %6s\n", "kernel", "size", "time", "limit", "ratio");
    int failed = 0;
    for (size_t k = 0; k < sizeof benches / sizeof *benches; k++) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++) {
            wanted = wanted || strcmp(argv[i], benches[k].name) == 0;
        }
        if (wanted && !benches[k].run()) {
            fprintf(stderr, "bench_cuda: %s failed\n", benches[k].name);
            failed++;
        }
    }
    return failed ? 1 : 0;
}
