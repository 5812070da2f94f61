import { Agent } from 'undici';

/**
 * Makes a `fetch` that trusts an authority. It keeps connections and uses them again, as most clients do; `keep: false`
 * makes a new one for each request. It speaks HTTP/1.1: over HTTP/2, undici does not repeat the requests that a drain
 * refuses for that, as browsers do (decision D-253).
 */
export function trustingFetch(ca: string, { keep = true } = {}): typeof fetch {
  const dispatcher = new Agent({
    allowH2: false,
    connect: { ca },
    ...(!keep && { pipelining: 0 }),
  });
  return (input, init) => {
    // Node's own `fetch` takes a dispatcher of undici, which its type does not say.
    const options: RequestInit = Object.assign({}, init, { dispatcher });
    return fetch(input, options);
  };
}
