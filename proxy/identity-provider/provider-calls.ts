import type { CustomFetch } from 'openid-client';

import { OutboundCalls } from '../outbound/outbound-calls.ts';
import { authoritiesOf, type WithAuthorities } from './authorities-of.ts';
import { observedFetch } from './observed-fetch.ts';

/** What a request to an identity provider is for. */
export type ProviderOperation =
  'discovery' | 'token' | 'userinfo' | 'introspection' | 'keys' | 'groups' | 'emails';

/** Sends all requests to identity providers. */
export class ProviderCalls {
  readonly #outbound: OutboundCalls;
  readonly #provider: WithAuthorities;

  constructor(outbound = new OutboundCalls(), provider: WithAuthorities = {}) {
    this.#outbound = outbound;
    this.#provider = provider;
  }

  /** Returns the calls to one provider, whose servers are checked against its own authorities if it has any. */
  to(provider: WithAuthorities): ProviderCalls {
    return new ProviderCalls(this.#outbound, provider);
  }

  /** Returns the `fetch` for requests whose purpose their URL tells. See `observedFetch`. */
  fetchFor(operationAt: (url: string) => ProviderOperation): CustomFetch {
    return (url, options) => {
      const operation = operationAt(url);
      return this.#outbound.run(
        { kind: 'provider', operation, method: options.method, url },
        (fields) => {
          const headers = { ...options.headers, ...fields };
          return observedFetch(url, { ...options, headers }, authoritiesOf(this.#provider));
        },
      );
    };
  }
}
