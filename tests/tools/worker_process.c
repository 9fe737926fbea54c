#include "backend/cpu/cpu_backend.h"
#include "backend/fault/fault_backend.h"
#include "backend/worker/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The child of tests of worker processes: worker_process THREADS PLAN [HOW].
 * HOW is how it behaves before it serves: "mute" says nothing, "quit" writes a line and ends,
 * "noise" sends what is no message, "descriptors" refuses to start when one is open that should not
 * be.
 */

static int behave(const char *how)
{
    if (strcmp(how, "mute") == 0) {
        pause();
    } else if (strcmp(how, "quit") == 0) {
        fprintf(stderr, "first line\nthere is no such device\n");
        return 7;
    } else if (strcmp(how, "noise") == 0) {
        char noise[100] = {0};
        if (write(CUZK_WORKER_FD, noise, sizeof noise) > 0) {
            pause();
        }
    } else if (strcmp(how, "descriptors") == 0) {
        for (int fd = CUZK_WORKER_FD + 1; fd < 1000; fd++) {
            if (fcntl(fd, F_GETFD) >= 0) {
                fprintf(stderr, "descriptor %d is open\n", fd);
                return 8;
            }
        }
        return 0;
    }
    return 0;
}

int main(int argc, char **argv)
{
    cuzk_backend *b;
    cuzk_err err;
    if (argc < 3) {
        return 2;
    }
    int status = argc > 3 ? behave(argv[3]) : 0;
    if (status) {
        return status;
    }
    cuzk_cpu_options options = {.threads = (unsigned)atoi(argv[1])};
    cuzk_code code = cuzk_backend_cpu_open(&b, &options, &err);
    if (code == CUZK_OK && argv[2][0]) {
        code = cuzk_backend_fault_open(&b, b, argv[2], &err);
    }
    if (code != CUZK_OK) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    status = cuzk_worker_main(CUZK_WORKER_FD, b);
    b->ops->close(b);
    return status;
}
