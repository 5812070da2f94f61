/** The credentials are not accepted. */
export const UNAUTHORIZED = 401;

/** The credentials do not grant access. */
export const FORBIDDEN = 403;

/** The resource or its type does not exist. */
export const NOT_FOUND = 404;

/** The resource was changed meanwhile, or exists already. */
export const CONFLICT = 409;

/** The server wants fewer requests. */
export const TOO_MANY_REQUESTS = 429;
