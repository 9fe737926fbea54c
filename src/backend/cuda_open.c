#include "backend/cuda_open.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_NAME "libcuzk_cuda.so"

/* The folder of the program, with the slash; "" when it cannot be told. */
static void program_folder(char ret[CUZK_CUDA_PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", ret, CUZK_CUDA_PATH_MAX - 1);
    ret[n > 0 ? n : 0] = 0;
    char *slash = strrchr(ret, '/');
    ret[slash ? slash + 1 - ret : 0] = 0;
}

/* What dlopen is to be asked for: a path, or the name alone for the loader's own places. */
static void find(char ret[CUZK_CUDA_PATH_MAX], const char *name)
{
    static const char *const beside[] = {"../lib/cuzk/", ""};
    char folder[CUZK_CUDA_PATH_MAX];
    program_folder(folder);
    for (size_t i = 0; i < 2 && folder[0] && !strchr(name, '/'); i++) {
        int n = snprintf(ret, CUZK_CUDA_PATH_MAX, "%s%s%s", folder, beside[i], name);
        if (n > 0 && n < CUZK_CUDA_PATH_MAX && access(ret, F_OK) == 0) {
            return;
        }
    }
    snprintf(ret, CUZK_CUDA_PATH_MAX, "%s", name);
}

static cuzk_code cannot_open(const char *path, cuzk_err *err)
{
    const char *why = dlerror();
    size_t n = strlen(path);
    why = why ? why : "the loader does not say why";
    if (strncmp(why, path, n) == 0 && why[n] == ':') { /* about this file, not one that it needs */
        why += n + 1;
        why += strspn(why, " ");
    } else {
        n = 0;
    }
    if (n > 0 && access(path, F_OK) != 0 && strstr(why, "No such file")) {
        return strchr(path, '/')
                   ? CUZK_FAIL(err, CUZK_E_NOT_FOUND, "%.180s: there is no such file", path)
                   : CUZK_FAIL(err, CUZK_E_NOT_FOUND,
                               "%.80s is neither beside this program (../lib/cuzk, or its folder) "
                               "nor where the system looks for libraries",
                               path);
    }
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "%.100s cannot be loaded: %.120s", path, why);
}

static cuzk_code check_entry(const cuzk_cuda_entry *e, const char *path, cuzk_err *err)
{
    if (!e) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "%.140s: not cuzk's: no symbol %s", path,
                         CUZK_CUDA_SYMBOL);
    }
    if (e->abi != CUZK_CUDA_ABI) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "%.140s: expected interface %d, found %u: not built with this program",
                         path, CUZK_CUDA_ABI, e->abi);
    }
    if (strcmp(e->version, CUZK_VERSION) != 0) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "%.140s: expected version %s, found %.20s: not built with this program",
                         path, CUZK_VERSION, e->version);
    }
    return CUZK_OK;
}

/* Where it was loaded from, in full when the loader found it. */
static void tell_path(char *ret, const cuzk_cuda_entry *e, const char *path)
{
    Dl_info info;
    const char *from = dladdr(e, &info) != 0 && info.dli_fname ? info.dli_fname : path;
    snprintf(ret, CUZK_CUDA_PATH_MAX, "%s", from);
}

cuzk_code cuzk_cuda_open(const cuzk_cuda_entry **ret, char *ret_path, const char *name,
                         cuzk_err *err)
{
    char path[CUZK_CUDA_PATH_MAX];
    name = name && name[0] ? name : DEFAULT_NAME;
    if (strlen(name) >= sizeof path) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%.80s…: too long a name of a library", name);
    }
    find(path, name);
    /* Never unloaded: a runtime that has threads and handlers of its own does not bear it. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        return cannot_open(path, err);
    }
    const cuzk_cuda_entry *e = dlsym(handle, CUZK_CUDA_SYMBOL);
    cuzk_code code = check_entry(e, path, err);
    if (code != CUZK_OK) {
        dlclose(handle);
        return code;
    }
    if (ret_path) {
        tell_path(ret_path, e, path);
    }
    *ret = e;
    return CUZK_OK;
}
