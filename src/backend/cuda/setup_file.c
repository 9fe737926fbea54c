#include "backend/cuda/circuit.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/setup.h"
#include "base/system.h"
#include "filecoin/circuits/catalog.h"

static cuzk_code read_secrets(cuzk_trapdoor *ret, const char *seed, cuzk_err *err)
{
    return seed ? cuzk_trapdoor_named(ret, seed, err) : cuzk_trapdoor_random(ret, err);
}

static cuzk_code make_key(cuzk_cuda_key **ret, const cuzk_shape *s, const char *seed,
                          cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err)
{
    cuzk_trapdoor secrets;
    cuzk_cuda_circuit *circuit;
    CUZK_TRY(cuzk_cuda_circuit_new(&circuit, s, m, stream, err));
    cuzk_code code = read_secrets(&secrets, seed, err);
    if (code == CUZK_OK) {
        code = cuzk_cuda_setup(ret, s, cuzk_cuda_circuit_shape(circuit), &secrets, m, stream, err);
    }
    cuzk_wipe(&secrets, sizeof secrets);
    cuzk_cuda_circuit_free(circuit);
    return code;
}

static cuzk_code make_and_write(const cuzk_cuda_setup_options *o, const cuzk_shape *s,
                                cuzk_cuda_memory *m, uint64_t *ret_ns, cuzk_err *err)
{
    cuzk_cuda_stream stream;
    cuzk_cuda_key *key;
    CUZK_TRY(cuzk_cuda_stream_new(&stream, err));
    uint64_t start = cuzk_clock_ns();
    cuzk_code code = make_key(&key, s, o->seed, m, stream, err);
    if (code == CUZK_OK) {
        if (ret_ns) {
            *ret_ns = cuzk_clock_ns() - start;
        }
        code = cuzk_cuda_key_write(key, o->params, stream, err);
        cuzk_cuda_key_free(key);
    }
    cuzk_cuda_stream_free(stream);
    return code;
}

cuzk_code cuzk_cuda_setup_file(const cuzk_cuda_setup_options *options, uint64_t *ret_ns,
                               cuzk_err *err)
{
    cuzk_device_info device = {0};
    cuzk_circuit_id id;
    cuzk_shape *shape;
    CUZK_TRY(cuzk_cuda_select(options->ordinal, err));
    CUZK_TRY(cuzk_cuda_describe(&device, err));
    CUZK_TRY(cuzk_circuit_named(&id, options->circuit, err));
    CUZK_TRY(cuzk_circuit_shape(&shape, &id, err));
    cuzk_cuda_memory memory = {.budget = cuzk_cuda_room(device.memory_free, options->budget)};
    cuzk_code code = make_and_write(options, shape, &memory, ret_ns, err);
    cuzk_shape_free(shape);
    return code;
}
