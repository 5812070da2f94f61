import type { CustomFetch } from 'openid-client';

import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { OutboundCalls } from '../outbound/outbound-calls.ts';
import { observedFetch } from './observed-fetch.ts';

/** What a request to an identity provider is for. */
export type ProviderOperation =
  'discovery' | 'token' | 'userinfo' | 'introspection' | 'keys' | 'groups' | 'emails';

/** Sends all requests to identity providers. */
export class ProviderCalls {
  readonly #outbound: OutboundCalls;
  /** PEM. Undefined: those of the system. */
  readonly #authorities: string | undefined;

  constructor(outbound = new OutboundCalls(), authorities?: string) {
    this.#outbound = outbound;
    this.#authorities = authorities;
  }

  /** Returns the calls to one provider, whose servers are checked against its own authorities if it has any. */
  to({
    certificateAuthorities,
  }: Pick<CompiledIdentityProvider, 'certificateAuthorities'>): ProviderCalls {
    return new ProviderCalls(this.#outbound, certificateAuthorities);
  }

  /** Returns the `fetch` for requests whose purpose their URL tells. See `observedFetch`. */
  fetchFor(operationAt: (url: string) => ProviderOperation): CustomFetch {
    return (url, options) => {
      const operation = operationAt(url);
      return this.#outbound.run(
        { kind: 'provider', operation, method: options.method, url },
        (fields) => {
          const headers = { ...options.headers, ...fields };
          return observedFetch(url, { ...options, headers }, this.#authorities);
        },
      );
    };
  }
}
