/**
 * How long the revocation of a grant or a family is remembered: longer than any request that is still
 * about to create what was revoked takes.
 */
export const REVOCATION_MEMORY_SECONDS = 600;
