import { allowInsecureRequests } from 'oauth4webapi';

/** Options of requests by the guarded fetch, which decides on URLs: http only on loopback, in development. */
export const BY_GUARDED_FETCH = { [allowInsecureRequests]: true };
