/** Paths of sign-in on every host (specification: the prefix `/.gateway/` is reserved). */
export const SIGN_IN_PATHS = {
  signIn: '/.gateway/sign_in',
  callback: '/.gateway/callback',
  signOut: '/.gateway/sign_out',
  keys: '/.gateway/jwks.json',
} as const;
