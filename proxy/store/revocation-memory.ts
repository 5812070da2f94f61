/**
 * How long the revocation of a grant or family is remembered: longer than any request that could
 * still create it.
 */
export const REVOCATION_MEMORY_SECONDS = 600;
