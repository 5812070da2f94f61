import { AsyncLocalStorage } from 'node:async_hooks';

import type { CustomFetch } from 'openid-client';

/** Far above the length of any provider's response; a bound on memory. */
const MAX_BYTES = 1024 * 1024;

/** A complete response. */
export interface ObservedResponse {
  readonly url: string;
  readonly ok: boolean;
  readonly content: Buffer;
}

type Observer = (response: ObservedResponse) => Promise<void>;

const observers = new AsyncLocalStorage<Observer>();

/**
 * A `fetch` that passes each response to an observer before the caller gets it. It fails if a response is
 * longer than 1 MiB.
 */
export const observedFetch: CustomFetch = async (url, options) => {
  const { body = null, ...init } = options;
  const response = await fetch(url, { ...init, body });
  if (response.body === null) return response;
  const content = await readAll(response.body);
  await observers.getStore()?.({ url, ok: response.ok, content });
  const { status, statusText, headers } = response;
  return new Response(content, { status, statusText, headers });
};

/** Passes to an observer every response with a body that `observedFetch` returns during `run`. */
export function observeResponses<Result>(
  observer: Observer,
  run: () => Promise<Result>,
): Promise<Result> {
  return observers.run(observer, run);
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_BYTES)
      throw new Error(`the response is longer than ${String(MAX_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
