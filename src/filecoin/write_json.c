#include "filecoin/write_json.h"
#include "base/base64.h"
#include "filecoin/graph.h"

#include <stdio.h>
#include <stdlib.h>

/* A multiple of 3, so that base64 needs no state between two pieces. */
enum { PIECE = 3 << 14 };

/* Where text goes, base64 or plain. The first error stays and drops what comes after it. */
typedef struct sink {
    cuzk_file_writer *w;
    cuzk_err *err;
    cuzk_code code;
    bool base64;
    size_t fill;
    char text[PIECE];
    char encoded[PIECE / 3 * 4];
} sink;

static void flush(sink *s)
{
    if (s->code != CUZK_OK) {
        return;
    }
    if (s->base64) {
        cuzk_base64_encode(s->encoded, (const uint8_t *)s->text, s->fill);
        s->code = cuzk_file_writer_put(s->w, s->encoded, cuzk_base64_length(s->fill), s->err);
    } else {
        s->code = cuzk_file_writer_put(s->w, s->text, s->fill, s->err);
    }
    s->fill = 0;
}

static void put_n(sink *s, const char *text, size_t n)
{
    while (n > 0 && s->code == CUZK_OK) {
        size_t k = n < PIECE - s->fill ? n : PIECE - s->fill;
        memcpy(s->text + s->fill, text, k);
        s->fill += k;
        text += k;
        n -= k;
        if (s->fill == PIECE) {
            flush(s);
        }
    }
}

static void put(sink *s, const char *text) { put_n(s, text, strlen(text)); }

static void put_number(sink *s, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    put(s, text);
}

static void put_bytes(sink *s, const uint8_t *bytes)
{
    char text[32 * 4 + 2];
    size_t n = 0;
    for (int i = 0; i < 32; i++) {
        const unsigned v = bytes[i];
        text[n++] = i > 0 ? ',' : '[';
        if (v >= 100) {
            text[n++] = (char)('0' + v / 100);
        }
        if (v >= 10) {
            text[n++] = (char)('0' + v / 10 % 10);
        }
        text[n++] = (char)('0' + v % 10);
    }
    text[n++] = ']';
    put_n(s, text, n);
}

static void put_nodes(sink *s, const cuzk_node *nodes, size_t n)
{
    put(s, "[");
    for (size_t i = 0; i < n; i++) {
        put(s, i > 0 ? "," : "");
        put_bytes(s, nodes[i].b);
    }
    put(s, "]");
}

static void put_levels(sink *s, const cuzk_tree *tree, unsigned from, unsigned to,
                       const cuzk_node **siblings, uint64_t *index)
{
    put(s, "{\"path\":[");
    for (unsigned l = from; l < to; l++) {
        const uint64_t n = ((uint64_t)1 << tree->lg_arity[l]) - 1;
        put(s, l > from ? ",{\"hashes\":" : "{\"hashes\":");
        put_nodes(s, *siblings, n);
        put(s, ",\"index\":");
        put_number(s, *index & n);
        put(s, "}");
        *siblings += n;
        *index >>= tree->lg_arity[l];
    }
    put(s, "]}");
}

static void put_merkle(sink *s, const cuzk_tree *tree, const cuzk_path *path, const cuzk_node *root)
{
    static const char *const parts[] = {",\"sub_proof\":", ",\"top_proof\":"};
    const cuzk_node *siblings = path->siblings;
    uint64_t index = path->index;
    const unsigned base = tree->levels - (unsigned)tree->variant;
    if (tree->variant == 0) {
        put(s, "{\"data\":{\"Single\":{\"root\":");
        put_bytes(s, root->b);
        put(s, ",\"leaf\":");
        put_bytes(s, path->leaf.b);
        put(s, ",\"path\":");
        put_levels(s, tree, 0, base, &siblings, &index);
    } else {
        put(s, tree->variant == 1 ? "{\"data\":{\"Sub\":{\"base_proof\":"
                                  : "{\"data\":{\"Top\":{\"base_proof\":");
        put_levels(s, tree, 0, base, &siblings, &index);
        for (unsigned l = base; l < tree->levels; l++) {
            put(s, parts[l - base]);
            put_levels(s, tree, l, l + 1, &siblings, &index);
        }
        put(s, ",\"root\":");
        put_bytes(s, root->b);
        put(s, ",\"leaf\":");
        put_bytes(s, path->leaf.b);
    }
    put(s, "}}}");
}

static void put_column(sink *s, const cuzk_porep *p, const cuzk_column *column)
{
    const cuzk_tree octal = cuzk_sector_octal_tree(p->proof.sector);
    put(s, "{\"column\":{\"index\":");
    put_number(s, column->path.index);
    put(s, ",\"rows\":");
    put_nodes(s, column->rows, p->proof.sector->layers);
    put(s, ",\"_h\":null},\"inclusion_proof\":");
    put_merkle(s, &octal, &column->path, &p->comm_c);
    put(s, "}");
}

static void put_columns(sink *s, const cuzk_porep *p, const cuzk_column *columns, unsigned n)
{
    put(s, "[");
    for (unsigned i = 0; i < n; i++) {
        put(s, i > 0 ? "," : "");
        put_column(s, p, &columns[i]);
    }
    put(s, "]");
}

static void put_parents(sink *s, const cuzk_porep_challenge *c, uint32_t layer)
{
    cuzk_node parents[CUZK_LABEL_PARENTS];
    cuzk_label_parents(parents, c->columns, layer);
    put(s, "{\"parents\":");
    put_nodes(s, parents, CUZK_LABEL_PARENTS);
    put(s, ",\"layer_index\":");
    put_number(s, layer);
    put(s, ",\"node\":");
    put_number(s, c->data.index);
    put(s, "}");
}

static void put_challenge(sink *s, const cuzk_porep *p, const cuzk_porep_challenge *c)
{
    const cuzk_sector *sector = p->proof.sector;
    const cuzk_tree data = cuzk_sector_data_tree(sector), octal = cuzk_sector_octal_tree(sector);
    put(s, "{\"comm_d_proofs\":");
    put_merkle(s, &data, &c->data, &p->comm_d);
    put(s, ",\"comm_r_last_proof\":");
    put_merkle(s, &octal, &c->replica, &p->comm_r_last);
    put(s, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(s, p, &c->columns[CUZK_COLUMN_OWN]);
    put(s, ",\"drg_parents\":");
    put_columns(s, p, c->columns, CUZK_DRG_PARENTS);
    put(s, ",\"exp_parents\":");
    put_columns(s, p, c->columns + CUZK_COLUMN_EXP, CUZK_EXP_PARENTS);
    put(s, "},\"labeling_proofs\":[");
    for (uint32_t l = 1; l <= sector->layers; l++) {
        put(s, l > 1 ? "," : "");
        put_parents(s, c, l);
    }
    put(s, "],\"encoding_proof\":");
    put_parents(s, c, sector->layers);
    put(s, "}");
}

static void put_text(sink *s, const cuzk_porep *p)
{
    char name[CUZK_SEAL_NAME_MAX];
    cuzk_seal_proof_name(name, &p->proof);
    put(s, "{\"registered_proof\":\"");
    put(s, name);
    put(s, "\",\"vanilla_proofs\":{\"StackedDrg");
    put(s, p->proof.sector->name);
    put(s, "V1\":[");
    for (unsigned k = 0; k < p->n_partitions; k++) {
        put(s, k > 0 ? ",[" : "[");
        for (unsigned i = 0; i < p->proof.sector->challenges; i++) {
            put(s, i > 0 ? "," : "");
            put_challenge(s, p, &p->partitions[k].challenges[i]);
        }
        put(s, "]");
    }
    put(s, "]},\"comm_r\":");
    put_bytes(s, p->comm_r.b);
    put(s, ",\"comm_d\":");
    put_bytes(s, p->comm_d.b);
    put(s, ",\"replica_id\":");
    put_bytes(s, p->replica_id.b);
    put(s, ",\"seed\":");
    put_bytes(s, p->seed);
    put(s, ",\"ticket\":");
    put_bytes(s, p->ticket);
    put(s, "}");
    flush(s);
}

cuzk_code cuzk_porep_write_json(cuzk_file_writer *w, const cuzk_porep *p, bool wrapper,
                                cuzk_err *err)
{
    sink *s = malloc(sizeof *s);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to write JSON");
    }
    s->w = w;
    s->err = err;
    s->code = CUZK_OK;
    s->fill = 0;
    s->base64 = false;
    if (wrapper) {
        put(s, "{\"SectorNum\":");
        put_number(s, p->sector_number);
        put(s, ",\"Phase1Out\":\"");
        flush(s);
        s->base64 = true;
    }
    put_text(s, p);
    if (wrapper) {
        s->base64 = false;
        put(s, "\",\"SectorSize\":");
        put_number(s, p->proof.sector->bytes);
        put(s, "}");
        flush(s);
    }
    cuzk_code code = s->code;
    free(s);
    return code;
}
