import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ClientAuth,
  type Configuration as ProviderClient,
} from 'openid-client';

import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import { observedFetch } from './observed-fetch.ts';
import { BoundedMap } from '../cache/bounded-map.ts';
import type { SignInProvider } from './require-identity-provider.ts';
import { CachedValue } from '../cache/cached-value.ts';
import { wrongIssuer } from './wrong-issuer.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** Providers rarely move their endpoints; their keys are fetched again if an unknown one signs. */
const LIFETIME_MS = HOUR;

/** Long enough to spare a provider that is down, short enough to notice soon that it is back. */
const FAILURE_LIFETIME_MS = 2 * SECOND;

/** Timeout of every request to the provider. */
const TIMEOUT_SECONDS = 10;

/** More than the settings can have. */
const MAX_PROVIDERS = 64;

interface KnownProvider {
  /** Its whole configuration. */
  readonly key: string;
  readonly client: CachedValue<ProviderClient>;
}

/** Options of a `ProviderDiscovery`. */
export interface ProviderDiscoveryOptions {
  /** Accepts http issuers on loopback. */
  readonly devAllowLoopback: boolean;
  readonly now: () => number;
}

/** Discovers the endpoints of identity providers (OpenID Connect Discovery), and caches them. */
export class ProviderDiscovery {
  readonly #options: ProviderDiscoveryOptions;
  /** By the name of the provider: its last configuration. */
  readonly #known = new BoundedMap<string, KnownProvider>(MAX_PROVIDERS);

  constructor(options: ProviderDiscoveryOptions) {
    this.#options = options;
  }

  /** Returns the client for a provider. Rejects if it is unreachable, or is not the configured issuer. */
  clientOf(provider: SignInProvider): Promise<ProviderClient> {
    // The whole configuration, secret included: any difference makes a different client.
    const key = JSON.stringify(provider);
    const known = this.#known.get(provider.name);
    if (known?.key === key) return known.client.get();
    const client = new CachedValue(() => discover(provider, this.#options), {
      now: this.#options.now,
      lifetime: LIFETIME_MS,
      failureLifetime: FAILURE_LIFETIME_MS,
    });
    this.#known.set(provider.name, { key, client });
    return client.get();
  }
}

async function discover(
  { issuer, clientId, clientSecret }: SignInProvider,
  { devAllowLoopback }: ProviderDiscoveryOptions,
): Promise<ProviderClient> {
  const url = new URL(issuer);
  const mayUseHttp = devAllowLoopback && isLoopbackHost(url.hostname);
  return discovery(url, clientId, undefined, clientAuthentication(clientSecret), {
    timeout: TIMEOUT_SECONDS,
    [customFetch]: observedFetch,
    execute: [
      enableNonRepudiationChecks,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked to warn; loopback only
      ...(url.protocol === 'http:' && mayUseHttp ? [allowInsecureRequests] : []),
    ],
  }).catch((error: unknown) => {
    throw wrongIssuer(error, issuer) ?? error;
  });
}

/** Without a list of methods it is `client_secret_basic` (OpenID Connect Discovery, section 3). */
function clientAuthentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? basic : post;
    authenticate(server, client, body, headers);
  };
}
