/*
 * The group law, included by g1.c and g2.c after their header. They define GROUP, FIELD and
 * CURVE_B, a FIELD constant. Formulas: dbl-2009-l, add-2007-bl and madd-2007-bl of the
 * Explicit-Formulas Database (short Weierstrass, a = 0, Jacobian coordinates).
 */

#define G_(name) GROUP_PASTE(GROUP, name)
#define F_(name) GROUP_PASTE(FIELD, name)
#define AFFINE   G_(_affine)

void G_(_from_affine)(GROUP *r, const AFFINE *a)
{
    if (G_(_affine_is_inf)(a)) {
        G_(_set_inf)(r);
        return;
    }
    *r = (GROUP){a->x, a->y, F_(_one)};
}

/* Affine coordinates of a finite point whose 1 / Z is known. */
static void scale(AFFINE *r, const GROUP *a, const FIELD *z_inv)
{
    FIELD zz;
    F_(_sqr)(&zz, z_inv);
    F_(_mul)(&r->x, &a->x, &zz);
    F_(_mul)(&zz, &zz, z_inv);
    F_(_mul)(&r->y, &a->y, &zz);
}

void G_(_to_affine)(AFFINE *r, const GROUP *a)
{
    FIELD z_inv;
    F_(_inv)(&z_inv, &a->z); /* 0 for infinity, which gives (0, 0) */
    scale(r, a, &z_inv);
}

void G_(_batch_to_affine)(AFFINE *r, const GROUP *a, size_t n, FIELD *scratch)
{
    FIELD acc = F_(_one);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!G_(_is_inf)(&a[i])) {
            F_(_mul)(&acc, &acc, &a[i].z);
        }
    }
    F_(_inv)(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        FIELD z_inv = F_(_zero);
        if (!G_(_is_inf)(&a[i])) {
            F_(_mul)(&z_inv, &acc, &scratch[i]);
            F_(_mul)(&acc, &acc, &a[i].z);
        }
        scale(&r[i], &a[i], &z_inv);
    }
}

void G_(_dbl)(GROUP *r, const GROUP *p)
{
    FIELD a, b, c, d, e, f;
    F_(_sqr)(&a, &p->x);
    F_(_sqr)(&b, &p->y);
    F_(_sqr)(&c, &b);
    F_(_add)(&d, &p->x, &b);
    F_(_sqr)(&d, &d);
    F_(_sub)(&d, &d, &a);
    F_(_sub)(&d, &d, &c);
    F_(_dbl)(&d, &d); /* 4 X Y^2 */
    F_(_dbl)(&e, &a);
    F_(_add)(&e, &e, &a); /* 3 X^2 */
    F_(_mul)(&f, &p->y, &p->z);
    F_(_dbl)(&r->z, &f);
    F_(_sqr)(&f, &e);
    F_(_sub)(&f, &f, &d);
    F_(_sub)(&r->x, &f, &d);
    F_(_sub)(&d, &d, &r->x);
    F_(_mul)(&d, &e, &d);
    F_(_dbl)(&c, &c);
    F_(_dbl)(&c, &c);
    F_(_dbl)(&c, &c); /* 8 Y^4 */
    F_(_sub)(&r->y, &d, &c);
}

/* The common end of both additions: h = U2 - U1, rr = 2 (S2 - S1), z = (Z1 Z2 part) to multiply by
 * h. */
static void finish_add(GROUP *r, const FIELD *u1, const FIELD *s1, const FIELD *h, const FIELD *rr,
                       const FIELD *z)
{
    FIELD i, j, v, t;
    F_(_mul)(&r->z, z, h);
    F_(_dbl)(&i, h);
    F_(_sqr)(&i, &i);
    F_(_mul)(&j, h, &i);
    F_(_mul)(&v, u1, &i);
    F_(_sqr)(&t, rr);
    F_(_sub)(&t, &t, &j);
    F_(_sub)(&t, &t, &v);
    F_(_sub)(&r->x, &t, &v);
    F_(_sub)(&v, &v, &r->x);
    F_(_mul)(&v, &v, rr);
    F_(_mul)(&j, &j, s1);
    F_(_dbl)(&j, &j);
    F_(_sub)(&r->y, &v, &j);
}

void G_(_add)(GROUP *r, const GROUP *a, const GROUP *b)
{
    if (G_(_is_inf)(a)) {
        *r = *b;
        return;
    }
    if (G_(_is_inf)(b)) {
        *r = *a;
        return;
    }
    FIELD z1z1, z2z2, u1, u2, s1, s2, h, rr, z;
    F_(_sqr)(&z1z1, &a->z);
    F_(_sqr)(&z2z2, &b->z);
    F_(_mul)(&u1, &a->x, &z2z2);
    F_(_mul)(&u2, &b->x, &z1z1);
    F_(_mul)(&s1, &a->y, &b->z);
    F_(_mul)(&s1, &s1, &z2z2);
    F_(_mul)(&s2, &b->y, &a->z);
    F_(_mul)(&s2, &s2, &z1z1);
    F_(_sub)(&h, &u2, &u1);
    F_(_sub)(&rr, &s2, &s1);
    if (F_(_is_zero)(&h)) {
        if (F_(_is_zero)(&rr)) {
            G_(_dbl)(r, a);
        } else {
            G_(_set_inf)(r);
        }
        return;
    }
    F_(_dbl)(&rr, &rr);
    F_(_mul)(&z, &a->z, &b->z);
    F_(_dbl)(&z, &z);
    finish_add(r, &u1, &s1, &h, &rr, &z);
}

void G_(_add_affine)(GROUP *r, const GROUP *a, const AFFINE *b)
{
    if (G_(_affine_is_inf)(b)) {
        *r = *a;
        return;
    }
    if (G_(_is_inf)(a)) {
        G_(_from_affine)(r, b);
        return;
    }
    FIELD z1z1, u2, s2, h, rr, z;
    F_(_sqr)(&z1z1, &a->z);
    F_(_mul)(&u2, &b->x, &z1z1);
    F_(_mul)(&s2, &b->y, &a->z);
    F_(_mul)(&s2, &s2, &z1z1);
    F_(_sub)(&h, &u2, &a->x);
    F_(_sub)(&rr, &s2, &a->y);
    if (F_(_is_zero)(&h)) {
        if (F_(_is_zero)(&rr)) {
            G_(_dbl)(r, a);
        } else {
            G_(_set_inf)(r);
        }
        return;
    }
    FIELD x1 = a->x, y1 = a->y;
    F_(_dbl)(&rr, &rr);
    F_(_dbl)(&z, &a->z);
    finish_add(r, &x1, &y1, &h, &rr, &z);
}

bool G_(_eq)(const GROUP *a, const GROUP *b)
{
    if (G_(_is_inf)(a) || G_(_is_inf)(b)) {
        return G_(_is_inf)(a) && G_(_is_inf)(b);
    }
    FIELD z1, z2, t, u;
    F_(_sqr)(&z1, &a->z);
    F_(_sqr)(&z2, &b->z);
    F_(_mul)(&t, &a->x, &z2);
    F_(_mul)(&u, &b->x, &z1);
    if (!F_(_eq)(&t, &u)) {
        return false;
    }
    F_(_mul)(&z1, &z1, &a->z);
    F_(_mul)(&z2, &z2, &b->z);
    F_(_mul)(&t, &a->y, &z2);
    F_(_mul)(&u, &b->y, &z1);
    return F_(_eq)(&t, &u);
}

void G_(_mul_limbs)(GROUP *r, const GROUP *a, const uint64_t *k, size_t n)
{
    GROUP base = *a;
    GROUP acc;
    G_(_set_inf)(&acc);
    for (size_t i = 64 * n; i-- > 0;) {
        G_(_dbl)(&acc, &acc);
        if (k[i / 64] >> (i % 64) & 1) {
            G_(_add)(&acc, &acc, &base);
        }
    }
    *r = acc;
}

bool G_(_affine_is_on_curve)(const AFFINE *a)
{
    if (G_(_affine_is_inf)(a)) {
        return true;
    }
    FIELD left, right;
    F_(_sqr)(&left, &a->y);
    F_(_sqr)(&right, &a->x);
    F_(_mul)(&right, &right, &a->x);
    F_(_add)(&right, &right, &CURVE_B);
    return F_(_eq)(&left, &right);
}
