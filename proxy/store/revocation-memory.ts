/**
 * How long the revocation of a grant or family is remembered: longer than any request takes that is
 * about to create it.
 */
export const REVOCATION_MEMORY_SECONDS = 600;
