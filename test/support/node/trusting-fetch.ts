import { Agent, fetch as fetchOfUndici } from 'undici';

/** How a client connects. */
interface ConnectionOptions {
  /** Whether it keeps connections and uses them again, as most clients do, or makes a new one for each request. */
  readonly keep?: boolean;
  /** Whether it speaks HTTP/2, if the server does. */
  readonly http2?: boolean;
}

/**
 * Makes a `fetch` that trusts an authority. It speaks HTTP/1.1 by default: undici does not repeat what crosses the end
 * of an HTTP/2 connection, if it has a body (decision D-253).
 */
export function trustingFetch(
  ca: string,
  { keep = true, http2 = false }: ConnectionOptions = {},
): typeof fetch {
  const dispatcher = new Agent({
    allowH2: http2,
    connect: { ca },
    ...(!keep && { pipelining: 0 }),
  });
  // Unlike Node's own, its errors say how much was sent and received on the connection. The types are alike.
  const send = fetchOfUndici as unknown as typeof fetch;
  return async (input, init) => {
    const options: RequestInit = Object.assign({}, init, { dispatcher });
    const response = await send(input, options);
    // The SDKs read errors only of what is a Response of Node.
    return new Response(response.body, response);
  };
}
