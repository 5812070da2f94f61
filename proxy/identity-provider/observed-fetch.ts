import { AsyncLocalStorage } from 'node:async_hooks';
import type { SecureContext } from 'node:tls';

import type { CustomFetch } from 'openid-client';

import { fetchWithAuthorities } from './fetch-with-authorities.ts';

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
 * longer than 1 MiB. With `authorities`, it trusts those instead of the system's.
 */
export async function observedFetch(
  url: string,
  options: Parameters<CustomFetch>[1],
  authorities?: SecureContext,
): Promise<Response> {
  const { body = null, ...init } = options;
  const isPlain = authorities === undefined || new URL(url).protocol !== 'https:';
  const response = isPlain
    ? await fetch(url, { ...init, body })
    : await fetchWithAuthorities(url, { ...init, body }, authorities);
  const { status, statusText, headers } = response;
  if (response.body === null) return new Response(null, { status, statusText, headers });
  const content = await readAll(response.body);
  await observers.getStore()?.({ url, ok: response.ok, content });
  return new Response(content, { status, statusText, headers });
}

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
