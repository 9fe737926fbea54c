#include "circuit_args.h"

#include "gadget/expand.h"
#include "r1cs/assignment.h"

enum { KEY_DIGEST = 0x2000, KEY_CHECK };

typedef struct options {
    cli_circuit_args circuit;
    bool digest, check;
} options;

static const struct argp_option option_list[] = {
    CLI_CIRCUIT_OPTION,
    CLI_STATEMENT_OPTIONS,
    {"digest", KEY_DIGEST, NULL, 0,
     "Print SHA-256 of the inputs, of the other variables, and of the rows' values in A, B and C, "
     "32 bytes little-endian each",
     0},
    {"check", KEY_CHECK, NULL, 0, "See whether all rows hold", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_DIGEST:
        o->digest = true;
        return 0;
    case KEY_CHECK:
        o->check = true;
        return 0;
    default:
        return cli_circuit_parse(&o->circuit, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .doc = "Makes the witness of a Filecoin circuit from vanilla proofs, which are checked "
           "first.\v"
           "  cuzk witness --circuit porep-32GiB --input c1.json --partition 0 --digest\n"
           "  cuzk witness --circuit window-2KiB --input sector0 --input sector1 --randomness HEX "
           "--check",
};

static cuzk_code say_digests(const cuzk_packed *p, const cuzk_shape *shape, cuzk_pool *pool,
                             cuzk_err *err)
{
    static const char *const names[] = {"inputs", "aux", "a", "b", "c"};
    for (cuzk_packed_part part = 0; part < CUZK_PACKED_PARTS; part++) {
        uint8_t digest[32];
        char text[65];
        CUZK_TRY(cuzk_packed_digest(p, shape, part, digest, pool, err));
        cuzk_hex_format(text, digest, sizeof digest);
        cli_say("%s %s", names[part], text);
    }
    return CUZK_OK;
}

static cuzk_code look_at(const cuzk_packed *p, const cuzk_shape *shape, const options *o,
                         cuzk_pool *pool, cuzk_err *err)
{
    if (o->check) {
        CUZK_TRY(cuzk_packed_check(p, shape, pool, err));
        cli_say("all %u constraints hold", cuzk_shape_rows(shape));
    }
    return o->digest ? say_digests(p, shape, pool, err) : CUZK_OK;
}

static cuzk_code one(const cli_statement *s, unsigned k, const cuzk_shape *shape, const options *o,
                     cuzk_pool *pool, cuzk_err *err)
{
    cuzk_ports ports;
    cuzk_packed packed;
    CUZK_TRY(cuzk_statement_check(s->statement, k, pool, err));
    CUZK_TRY(cuzk_statement_ports(s->statement, k, shape, &ports, err));
    cuzk_code code = cuzk_expand(&packed, shape, &ports, pool, err);
    cuzk_ports_clear(&ports);
    CUZK_TRY(code);
    cli_say("partition %u: %u inputs, %u other variables", k, shape->n_inputs - 1,
            cuzk_shape_aux(shape));
    code = look_at(&packed, shape, o, pool, err);
    cuzk_packed_clear(&packed);
    return code;
}

static cuzk_code run(options *o, const cli_common *common, cuzk_err *err)
{
    cli_statement s;
    cuzk_pool *pool = NULL;
    cuzk_shape *shape = NULL;
    CUZK_TRY(cli_statement_open(&s, &o->circuit, err));
    cuzk_code code = cli_pool(&pool, common, err);
    if (code == CUZK_OK) {
        code = cli_circuit_shape(&shape, &s.id, err);
    }
    for (unsigned k = s.first; k < s.end && code == CUZK_OK; k++) {
        code = one(&s, k, shape, o, pool, err);
    }
    cuzk_shape_free(shape);
    cuzk_pool_free(pool);
    cli_statement_close(&s);
    return code;
}

cuzk_code cmd_witness(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    cli_common common;
    cuzk_code code = cli_parse(&argp, argc, argv, &o, &common, err);
    if (code == CUZK_OK) {
        code = run(&o, &common, err);
    }
    cli_circuit_args_clear(&o.circuit);
    return code;
}
