#include "filecoin/circuits/catalog.h"

#include <stdio.h>
#include <string.h>

#include "filecoin/circuits/circuit_porep.h"
#include "filecoin/circuits/circuit_post.h"
#include "filecoin/circuits/circuit_update.h"
#include "r1cs/shape_file.h"

static const cuzk_proof_kind kinds[] = {CUZK_POREP, CUZK_WINNING_POST, CUZK_WINDOW_POST,
                                        CUZK_UPDATE, CUZK_UPDATE_POSEIDON};

/* Every size has an update circuit; those with labels have all others. */
static bool exists(cuzk_proof_kind kind, const cuzk_sector *s)
{
    return kind == CUZK_UPDATE || kind == CUZK_UPDATE_POSEIDON ? s->update_challenges > 0
                                                               : s->layers > 0;
}

/* The unit that a cut counts, and the cut that has a name. */
static const char *cut_suffix(cuzk_proof_kind kind, unsigned *ret_cut)
{
    *ret_cut = kind == CUZK_POREP ? 1 : 2;
    return kind == CUZK_POREP ? "-1challenge" : kind == CUZK_WINDOW_POST ? "-2sectors" : NULL;
}

void cuzk_circuit_name(char ret[CUZK_SHAPE_NAME_MAX], const cuzk_circuit_id *id)
{
    unsigned cut;
    const char *suffix = cut_suffix(id->kind, &cut);
    snprintf(ret, CUZK_SHAPE_NAME_MAX, "%s-%s%s", cuzk_proof_kind_name(id->kind), id->sector->name,
             id->cut && suffix ? suffix : "");
}

void cuzk_circuit_shape_name(char ret[CUZK_SHAPE_NAME_MAX], const cuzk_circuit_id *id)
{
    char name[CUZK_SHAPE_NAME_MAX];
    cuzk_circuit_name(name, id);
    snprintf(ret, CUZK_SHAPE_NAME_MAX, "%.48s/%d", name, CUZK_CIRCUITS_VERSION);
}

cuzk_code cuzk_circuit_named(cuzk_circuit_id *ret, const char *name, cuzk_err *err)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const cuzk_sector *s;
        for (unsigned i = 0; (s = cuzk_sector_at(i)); i++) {
            cuzk_circuit_id id = {kinds[k], s, 0};
            char text[CUZK_SHAPE_NAME_MAX];
            for (int cut = 0; cut < 2 && exists(kinds[k], s); cut++) {
                if (cut && !cut_suffix(kinds[k], &id.cut)) {
                    continue;
                }
                cuzk_circuit_name(text, &id);
                if (strcmp(text, name) == 0) {
                    *ret = id;
                    return CUZK_OK;
                }
            }
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG,
                     "no circuit %s: want porep-, winning-, window-, update- or update-poseidon- "
                     "and a sector size such as 32GiB",
                     name);
}

bool cuzk_circuit_at(unsigned i, char ret[CUZK_SHAPE_NAME_MAX])
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const cuzk_sector *s;
        for (unsigned n = 0; (s = cuzk_sector_at(n)); n++) {
            if (exists(kinds[k], s) && i-- == 0) {
                cuzk_circuit_id id = {kinds[k], s, 0};
                cuzk_circuit_name(ret, &id);
                return true;
            }
        }
    }
    return false;
}

static void drive(cuzk_cs *cs, const cuzk_circuit_id *id)
{
    cuzk_porep_config porep;
    cuzk_post_config post;
    switch (id->kind) {
    case CUZK_POREP:
        porep = cuzk_porep_config_of(id);
        cuzk_circuit_porep(cs, &porep, NULL, 0);
        break;
    case CUZK_WINNING_POST:
    case CUZK_WINDOW_POST:
        post = cuzk_post_config_of(id);
        cuzk_circuit_post(cs, &post, NULL, 0);
        break;
    case CUZK_UPDATE:
        cuzk_circuit_update(cs, id->sector, NULL);
        break;
    case CUZK_UPDATE_POSEIDON:
        cuzk_circuit_update_poseidon(cs, id->sector);
        break;
    }
}

cuzk_code cuzk_circuit_shape(cuzk_shape **ret, const cuzk_circuit_id *id, cuzk_err *err)
{
    char name[CUZK_SHAPE_NAME_MAX];
    cuzk_circuit_shape_name(name, id);
    cuzk_cs *cs = NULL;
    CUZK_TRY(cuzk_cs_new_shape(&cs, name, err));
    drive(cs, id);
    cuzk_code code = cuzk_cs_finish_shape(cs, ret, err);
    cuzk_cs_free(cs);
    return code;
}

cuzk_code cuzk_circuit_shape_cached(cuzk_shape **ret, const cuzk_circuit_id *id, const char *file,
                                    bool *ret_made, cuzk_err *err)
{
    char name[CUZK_SHAPE_NAME_MAX];
    cuzk_circuit_shape_name(name, id);
    bool made = false;
    cuzk_shape *s = NULL;
    if (cuzk_shape_load(&s, file, name, NULL) != CUZK_OK) {
        CUZK_TRY(cuzk_circuit_shape(&s, id, err));
        made = true;
        cuzk_code code = cuzk_shape_save(s, file, err);
        if (code != CUZK_OK) {
            cuzk_shape_free(s);
            return code;
        }
    }
    if (ret_made) {
        *ret_made = made;
    }
    *ret = s;
    return CUZK_OK;
}
