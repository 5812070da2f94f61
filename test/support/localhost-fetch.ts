import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

import { Agent } from 'undici';

/**
 * Makes a `fetch` for which names under `localhost` are this machine, as they are for browsers. It sends from
 * this address of the machine, which has many: 127.0.0.0/8.
 */
export function localhostFetchFrom(localAddress: string): typeof fetch {
  const dispatcher = new Agent({ connect: { lookup: lookUp }, localAddress });
  return (input, init) => {
    // Node's own `fetch` takes a dispatcher of undici, which its type does not say.
    const options: RequestInit = Object.assign({}, init, { dispatcher });
    return fetch(input, options);
  };
}

const lookUp: LookupFunction = (hostname, options, done) => {
  lookup(hostname.endsWith('.localhost') ? 'localhost' : hostname, options, done);
};

/** A `fetch` for which names under `localhost` are this machine, as they are for browsers. */
export const localhostFetch = localhostFetchFrom('127.0.0.1');
