/**
 * Longest URL that is taken from metadata, in characters: browsers and servers accept no longer ones. Each pending
 * connection and each token is kept with some of them.
 */
export const LONGEST_URL_LENGTH = 2048;
