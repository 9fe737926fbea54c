#include "groth16/formats/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

enum { CHUNK = 1 << 20, PROGRESS_CHUNKS = 64 };

/* The files of rust-fil-proofs' parameters.json; a test compares the two. */
static const cuzk_published_file published[] = {
    {"c3ad7bb549470b82ad52ed070aebb4f4", "update-512MiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c.params"},
    {"994c5b7d450ca9da348c910689f2dc7f", "update-512MiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c.vk"},
    {"5aedd2cf3e5c0a15623d56a1b43110ad", "update-8MiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63.params"},
    {"abd80269054d391a734febdac0d2e687", "update-8MiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63.vk"},
    {"311f92a3e75036ced01b1c0025f1fa0c", "update-2KiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194.params"},
    {"eadad9784969890d30f2749708c79771", "update-2KiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194.vk"},
    {"1b3cfd761a961543f9eb273e435a06a2", "update-32GiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
     "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18.params"},
    {"3a6941983754737fde880d29c7094905", "update-32GiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
     "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18.vk"},
    {"1a392e7b759fb18e036c7559b5ece816", "update-64GiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
     "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7.params"},
    {"80e366df2f1011953c2d01c7b7c9ee8e", "update-64GiB",
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
     "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7.vk"},
    {"b69983b5d7a97a20f43b3d5ff2a4ed04", "update-poseidon-32GiB",
     "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-0-"
     "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18.params"},
    {"1ac05784f304129f74c5184190c1ec78", "update-poseidon-32GiB",
     "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-0-"
     "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18.vk"},
    {"a6d4f96e2b641a6d7a1a8e6dc1155c8a", "update-poseidon-64GiB",
     "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-2-"
     "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7.params"},
    {"8e8fb9e2c56eb5d740d0de135305a7b8", "update-poseidon-64GiB",
     "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-2-"
     "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7.vk"},
    {"7610b9f82bfc88405b7a832b651ce2f6", "window-2KiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.params"},
    {"0e0958009936b9d5e515ec97b8cb792d", "window-2KiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.vk"},
    {"1a7d4a9c8a502a497ed92a54366af33f", "window-512MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9.params"},
    {"4dae975de4f011f101f5a2f86d1daaba", "window-512MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9.vk"},
    {"82c88066be968bb550a05e30ff6c2413", "winning-2KiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e.params"},
    {"ffd79788d614d27919ae5bd2d94eacb6", "winning-2KiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e.vk"},
    {"700171ecf7334e3199437c930676af82", "winning-8MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331.params"},
    {"79ebb55f56fda427743e35053edad8fc", "winning-8MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331.vk"},
    {"c49499bb76a0762884896f9683403f55", "window-8MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9.params"},
    {"34d4feeacd9abf788d69ef1bb4d8fd00", "window-8MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9.vk"},
    {"827359440349fe8f5a016e7598993b79", "winning-512MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781.params"},
    {"bd2cd62f65c1ab84f19ca27e97b7c731", "winning-512MiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781.vk"},
    {"2cf49eb26f1fee94c85781a390ddb4c8", "window-32GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc.params"},
    {"0f8ec542485568fa3468c066e9fed82b", "window-32GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc.vk"},
    {"d84f79a16fe40e9e25a36e2107bb1ba0", "winning-32GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e.params"},
    {"fc02943678dd119e69e7fab8420e8819", "winning-32GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e.vk"},
    {"3810b7780ac0e299b22ae70f1f94c9bc", "window-64GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def.params"},
    {"59d2bf1857adc59a4f08fcf2afaa916b", "window-64GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def.vk"},
    {"2170a91ad5bae22ea61f2ea766630322", "winning-64GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c.params"},
    {"6d3789148fb6466d07ee1e24d6292fd6", "winning-64GiB",
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c.vk"},
    {"434fb1338ecfaf0f59256f30dde4968f", "porep-2KiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.params"},
    {"dc1ade9929ade1708238f155343044ac", "porep-2KiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk"},
    {"6c77597eb91ab936c1cef4cf19eba1b3", "porep-512MiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472.params"},
    {"065179da19fbe515507267677f02823e", "porep-512MiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472.vk"},
    {"09e612e4eeb7a0eb95679a88404f960c", "porep-8MiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb.params"},
    {"b687beb9adbd9dabe265a7e3620813e4", "porep-8MiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb.vk"},
    {"6a388072a518cf46ebd661f5cc46900a", "porep-32GiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
     "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820.params"},
    {"0c7b4aac1c40fdb7eb82bc355b41addf", "porep-32GiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
     "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820.vk"},
    {"1801f8a6e1b00bceb00cc27314bb5ce3", "porep-64GiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
     "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2.params"},
    {"a89884252c04c298d0b3c81bfd884164", "porep-64GiB",
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
     "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2.vk"},
};

const cuzk_published_file *cuzk_published_all(size_t *ret_n)
{
    *ret_n = sizeof published / sizeof *published;
    return published;
}

const cuzk_published_file *cuzk_published_find(const char *digest)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        if (strcmp(published[i].digest, digest) == 0) {
            return &published[i];
        }
    }
    return NULL;
}

static cuzk_code hash_all(EVP_MD_CTX *hash, int fd, uint8_t *chunk, const char *name,
                          const cuzk_progress *progress, cuzk_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot stat: %s", name, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a regular file", name);
    }
    uint64_t done = 0;
    for (unsigned k = 1;; k++) {
        ssize_t n = read(fd, chunk, CHUNK);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return CUZK_FAIL(err, CUZK_E_IO, "%s: offset %llu: cannot read: %s", name,
                             (unsigned long long)done, strerror(errno));
        }
        if (n == 0) {
            return CUZK_OK;
        }
        if (EVP_DigestUpdate(hash, chunk, (size_t)n) != 1) {
            return CUZK_FAIL(err, CUZK_E_INTERNAL, "libcrypto refuses to compute BLAKE2b");
        }
        done += (uint64_t)n;
        if (k % PROGRESS_CHUNKS == 0 && progress && progress->fn) {
            progress->fn(progress->ctx, "digest", done, (uint64_t)st.st_size);
        }
    }
}

cuzk_code cuzk_file_digest(char ret[33], const char *name, const cuzk_progress *progress,
                           cuzk_err *err)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot open: %s", name, strerror(errno));
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    uint8_t *chunk = malloc(CHUNK);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    uint8_t digest[EVP_MAX_MD_SIZE];
    cuzk_code code;
    if (!chunk || !hash) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory to read it", name);
    } else if (EVP_DigestInit_ex(hash, EVP_blake2b512(), NULL) != 1) {
        code = CUZK_FAIL(err, CUZK_E_INTERNAL, "libcrypto has no BLAKE2b");
    } else {
        code = hash_all(hash, fd, chunk, name, progress, err);
        if (code == CUZK_OK && EVP_DigestFinal_ex(hash, digest, NULL) != 1) {
            code = CUZK_FAIL(err, CUZK_E_INTERNAL, "libcrypto refuses to compute BLAKE2b");
        }
    }
    if (code == CUZK_OK) {
        cuzk_hex_format(ret, digest, 16);
    }
    EVP_MD_CTX_free(hash);
    free(chunk);
    close(fd);
    return code;
}
