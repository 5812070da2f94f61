import type { CustomFetch } from 'openid-client';

import { OutboundCalls } from '../outbound/outbound-calls.ts';
import { observedFetch } from './observed-fetch.ts';

/** What a request to an identity provider is for. */
export type ProviderOperation =
  'discovery' | 'token' | 'userinfo' | 'introspection' | 'keys' | 'groups' | 'emails';

/** Sends all requests to identity providers. */
export class ProviderCalls {
  readonly #outbound: OutboundCalls;

  constructor(outbound = new OutboundCalls()) {
    this.#outbound = outbound;
  }

  /** Returns the `fetch` for requests whose purpose their URL tells. See `observedFetch`. */
  fetchFor(operationAt: (url: string) => ProviderOperation): CustomFetch {
    return (url, options) => {
      const operation = operationAt(url);
      return this.#outbound.run(
        { kind: 'provider', operation, method: options.method, url },
        (fields) => observedFetch(url, { ...options, headers: { ...options.headers, ...fields } }),
      );
    };
  }
}
