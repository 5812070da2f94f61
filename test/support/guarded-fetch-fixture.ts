import { type RequestListener } from 'node:http';

import {
  createGuardedFetch,
  type GuardedFetchOptions,
  type GuardedFetchSettings,
} from '../../proxy/outbound/guarded-fetch.ts';

/** Name that resolves to loopback, unless a test overrides it. */
export const HOST = 'client.example';
/** An address that `OPTIONS` allow. */
export const LOOPBACK = { address: '127.0.0.1', family: 4 };
/** An address on the public internet. */
export const PUBLIC = { address: '8.8.8.8', family: 4 };

/** Options of one fetch, with loopback allowed. */
export const OPTIONS: GuardedFetchOptions = {
  accept: 'application/json',
  maxBytes: 100,
  timeoutMs: 10_000,
  allowedCidrs: ['127.0.0.0/8'],
};

/** Makes a guarded fetch that resolves every name to loopback. */
export function guardedFetchWith(settings: Partial<GuardedFetchSettings> = {}) {
  return createGuardedFetch({
    devAllowLoopback: false,
    lookup: () => Promise.resolve([LOOPBACK]),
    ...settings,
  });
}

/** Answers every request with a small document. */
export const answerOk: RequestListener = (_request, response) => {
  response.end('{"ok":true}');
};
