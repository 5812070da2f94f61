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
  type ServerMetadata,
} from 'openid-client';

import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import { ProviderCalls, type ProviderOperation } from './provider-calls.ts';
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
  readonly calls?: ProviderCalls;
}

/** Discovers the endpoints of identity providers (OpenID Connect Discovery), and caches them. */
export class ProviderDiscovery {
  /** Sends the requests to all providers, GitHub's too, which has no discovery. */
  readonly calls: ProviderCalls;
  readonly #options: ProviderDiscoveryOptions;
  /** By the name of the provider: its last configuration. */
  readonly #known = new BoundedMap<string, KnownProvider>(MAX_PROVIDERS);

  constructor(options: ProviderDiscoveryOptions) {
    this.calls = options.calls ?? new ProviderCalls();
    this.#options = options;
  }

  /** Returns the client for a provider. Rejects if it is unreachable, or is not the configured issuer. */
  clientOf(provider: SignInProvider): Promise<ProviderClient> {
    // The whole configuration, secret included: any difference makes a different client.
    const key = JSON.stringify(provider);
    const known = this.#known.get(provider.name);
    if (known?.key === key) return known.client.get();
    const client = new CachedValue(
      () => discover(provider, { ...this.#options, calls: this.calls.to(provider) }),
      {
        now: this.#options.now,
        lifetime: LIFETIME_MS,
        failureLifetime: FAILURE_LIFETIME_MS,
      },
    );
    this.#known.set(provider.name, { key, client });
    return client.get();
  }
}

async function discover(
  { issuer, clientId, clientSecret }: SignInProvider,
  { devAllowLoopback, calls }: Required<ProviderDiscoveryOptions>,
): Promise<ProviderClient> {
  const url = new URL(issuer);
  const mayUseHttp = devAllowLoopback && isLoopbackHost(url.hostname);
  let client = undefined as ProviderClient | undefined;
  const found = discovery(url, clientId, undefined, clientAuthentication(clientSecret), {
    timeout: TIMEOUT_SECONDS,
    [customFetch]: calls.fetchFor((called) => operationAt(called, client?.serverMetadata())),
    execute: [
      enableNonRepudiationChecks,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked to warn; loopback only
      ...(url.protocol === 'http:' && mayUseHttp ? [allowInsecureRequests] : []),
    ],
  });
  client = await found.catch((error: unknown) => {
    throw wrongIssuer(error, issuer) ?? error;
  });
  return client;
}

/** Returns what is asked at a URL; all other requests are pages of the look-up of groups. */
function operationAt(url: string, server: ServerMetadata | undefined): ProviderOperation {
  if (server === undefined) return 'discovery';
  const endpoints = [
    [server.token_endpoint, 'token'],
    [server.userinfo_endpoint, 'userinfo'],
    [server.introspection_endpoint, 'introspection'],
    [server.jwks_uri, 'keys'],
  ] as const;
  // The two may be spelled differently: with a default port, or in capitals.
  const { href } = new URL(url);
  return endpoints.find(([endpoint]) => URL.parse(endpoint ?? '')?.href === href)?.[1] ?? 'groups';
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
