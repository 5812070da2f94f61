import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Secret } from './secret.ts';
import { queryOfTarget, secretsOfBody, secretsOfHeaders, secretsOfUrl } from './secrets-in-http.ts';

const CHANNEL = 'http.server.request.start';
/** Longest body that is searched. Longer bodies belong to tests of lengths. */
const MAX_BYTES = 256 * 1024;

type Take = (secrets: readonly Secret[]) => void;

/**
 * Reports the secrets of every request that a server of this process receives, and of its response:
 * of gateways, identity providers and upstreams, whoever the client is.
 */
export function observeHttp(take: Take): Disposable {
  const onRequest = (message: unknown): void => {
    // Node publishes messages of this form on the channel.
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const { url = '', headers } = request;
    take([...secretsOfUrl(url), ...queryOfTarget(url), ...secretsOfHeaders(headers)]);
    observeRequestBody(request, take);
    observeResponse(response, take);
  };
  subscribe(CHANNEL, onRequest);
  return { [Symbol.dispose]: () => void unsubscribe(CHANNEL, onRequest) };
}

/** A listener for `data` would make the body flow before the server wants it. */
function observeRequestBody(request: IncomingMessage, take: Take): void {
  const body = new Body();
  observeCalls(request, 'emit', ([event, chunk]) => {
    if (event === 'data') body.add(chunk);
    if (event === 'end') take(secretsOfBody(body.text()));
  });
}

function observeResponse(response: ServerResponse, take: Take): void {
  const body = new Body();
  observeCalls(response, 'writeHead', (head) => {
    take(secretsOfHeaders(response.getHeaders()));
    for (const headers of head) if (isFields(headers)) take(secretsOfHeaders(headers));
  });
  observeCalls(response, 'write', ([chunk]) => body.add(chunk));
  observeCalls(response, 'end', ([chunk]) => {
    body.add(chunk);
    take(secretsOfBody(body.text()));
  });
}

/** Passes the arguments of every call of a method to a function, before the call. */
function observeCalls<Name extends string>(
  target: Record<Name, (...args: never[]) => unknown>,
  name: Name,
  see: (args: readonly unknown[]) => void,
): void {
  target[name] = new Proxy(target[name], {
    apply(method, self, args: unknown[]): unknown {
      see(args);
      return Reflect.apply(method, self, args);
    },
  });
}

/** Header fields as an object, or as a flat list of names and values. */
function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

class Body {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  add(chunk: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const bytes = Buffer.from(chunk);
    this.#bytes += bytes.length;
    if (this.#bytes <= MAX_BYTES) this.#chunks.push(bytes);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
