import type { JWTVerifyGetKey } from 'jose';

import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { BoundedMap } from '../cache/bounded-map.ts';
import type { ProviderDiscovery } from '../identity-provider/provider-discovery.ts';
import { discoveredClient } from './discovered-client.ts';
import { RotatingKeySet } from './rotating-key-set.ts';

/** Far above the number of providers of a gateway; a bound on what configurations leave behind. */
const MAX_KEY_SETS = 256;

/** Timeout of a request for keys, as of all requests to a provider. */
const TIMEOUT_MS = 10_000;

/** The public keys of a provider. */
export interface PublicKeys {
  /** See `RotatingKeySet.keyOf`. */
  readonly keyOf: JWTVerifyGetKey;
  /** Until when a token that was verified now counts as verified; in milliseconds since the epoch. */
  readonly countsUntil: () => number;
}

/** Options of `ProviderKeys`. */
export interface ProviderKeysOptions {
  readonly discovery: Pick<ProviderDiscovery, 'clientOf' | 'calls'>;
  /** Accepts keys by http on loopback. */
  readonly devAllowLoopback: boolean;
  readonly now: () => number;
}

/** The public keys of all providers: pushed by the controller, at `jwksUrl`, or where discovery finds them. */
export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  readonly #sets = new BoundedMap<string, PublicKeys>(MAX_KEY_SETS);

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
  }

  /**
   * Returns the keys of a provider; they are fetched when they are used. `jwksUrl` is where they are instead of
   * where discovery finds them.
   */
  of(provider: CompiledIdentityProvider, jwksUrl?: string): PublicKeys {
    const { name, issuer, keys, certificateAuthorities } = provider;
    const id = JSON.stringify([name, issuer, jwksUrl, keys, certificateAuthorities]);
    const known = this.#sets.get(id);
    if (known !== undefined) return known;
    const set = new RotatingKeySet({
      fetch: () => this.#fetch(provider, jwksUrl),
      now: this.#options.now,
    });
    this.#sets.set(id, set);
    return set;
  }

  async #fetch(provider: CompiledIdentityProvider, jwksUrl: string | undefined): Promise<unknown> {
    if (provider.keys !== undefined) return { keys: provider.keys };
    const url = new URL(jwksUrl ?? (await this.#discoveredUrl(provider)));
    this.#refuseInsecure(url);
    const fetch = this.#options.discovery.calls.to(provider).fetchFor(() => 'keys');
    const response = await fetch(url.href, {
      method: 'GET',
      headers: { accept: 'application/json, application/jwk-set+json' },
      body: undefined,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) throw new Error(`HTTP status ${String(response.status)}`);
    return response.json();
  }

  async #discoveredUrl(provider: CompiledIdentityProvider): Promise<string> {
    const client = await discoveredClient(provider, this.#options.discovery);
    const { jwks_uri: url } = client.serverMetadata();
    if (url === undefined) throw new Error('the metadata of the provider has no jwks_uri');
    return url;
  }

  /** Attack: whoever can change the keys on their way can sign tokens. */
  #refuseInsecure({ protocol, hostname }: URL): void {
    if (protocol === 'https:') return;
    const isLoopback = protocol === 'http:' && isLoopbackHost(hostname);
    if (!isLoopback || !this.#options.devAllowLoopback) {
      throw new Error('the keys of the provider are not at an https URL');
    }
  }
}
