import type { AuthorizationServer } from 'oauth4webapi';

import type {
  CompiledUpstreamClient,
  CompiledUpstreamOAuth,
} from '../../../shared/snapshot/compiled-upstream-oauth.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';
import { UpstreamAuthError } from '../../errors/upstream-auth-error.ts';
import type {
  UpstreamAuthMethod,
  UpstreamRegistration,
  UpstreamRegistrationKey,
} from '../../records/upstream-registration.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import type { UpstreamRegistrationStore } from '../../store/upstream-registration-store.ts';
import type { UpstreamFetch } from '../calls/upstream-calls.ts';
import { isScopeToken } from '../discovery/scope-token.ts';
import { upstreamCallbackUrl } from './client-metadata.ts';
import { metadataDocumentUrl, takesMetadataDocument } from './metadata-document.ts';
import { registerClient, type RegisterClientOptions } from './register-client.ts';
import type { UpstreamClient } from './upstream-client.ts';

const DAY_SECONDS = 24 * 3600;

/** How long a registration is kept without use. Each new connection and each refreshed token is a use. */
const REGISTRATION_SECONDS = 180 * DAY_SECONDS;

/** A secret that expires while a user is at the authorization server would fail there. */
const EXPIRY_MARGIN_MS = 15 * 60 * 1000;

/** An authorization server, and what the gateway is to it at a route host. */
export interface ClientPlace {
  readonly server: AuthorizationServer;
  readonly origin: Origin;
  readonly oauth: CompiledUpstreamOAuth;
  /** Of the server. */
  readonly fetch: UpstreamFetch;
}

/** What a client is for. */
export interface ScopesOfClient {
  /** Those of the connection that begins. */
  readonly now: readonly string[];
  /** Those that the upstream lists: it may want them of a user later. */
  readonly ofUpstream: readonly string[] | undefined;
}

/** Options of `UpstreamClients`. */
export interface UpstreamClientsOptions {
  readonly registrations: UpstreamRegistrationStore;
  readonly now: () => number;
}

/**
 * The gateway as a client of authorization servers: with given credentials, else by its metadata document where
 * the server takes it, else by dynamic registration. A registration is good for one issuer and one callback.
 */
export class UpstreamClients {
  readonly #registrations: UpstreamRegistrationStore;
  readonly #now: () => number;
  readonly #registering = new SingleFlight<UpstreamRegistration>();

  constructor({ registrations, now }: UpstreamClientsOptions) {
    this.#registrations = registrations;
    this.#now = now;
  }

  /** Returns the client for a new connection. Rejects with an `UpstreamAuthError`. */
  async forConnection(place: ClientPlace, scopes: ScopesOfClient): Promise<UpstreamClient> {
    const { server, origin, oauth } = place;
    if (oauth.client !== undefined) return givenClient(oauth, oauth.client, server);
    if (takesMetadataDocument(server, origin)) return documentClient(origin);
    const known = await this.#registered(keyOf(place));
    return registeredClient(known ?? (await this.#registerOnce(place, scopes)));
  }

  /** Returns the client that a token or code was issued to; null if the gateway is not that client any more. */
  async withId(clientId: string, place: ClientPlace): Promise<UpstreamClient | null> {
    const { server, origin, oauth } = place;
    if (oauth.client !== undefined) {
      return oauth.client.id === clientId ? givenClient(oauth, oauth.client, server) : null;
    }
    if (clientId === metadataDocumentUrl(origin)) return documentClient(origin);
    const registration = await this.#registered(keyOf(place));
    return registration?.clientId === clientId ? registeredClient(registration) : null;
  }

  /** Forgets a registration that its server does not know any more, unless there is another one already. */
  async forget(issuer: string, redirectUri: string, clientId: string): Promise<void> {
    await this.#registrations.delete({ issuer, redirectUri }, clientId);
  }

  async #registered(key: UpstreamRegistrationKey): Promise<UpstreamRegistration | null> {
    const registration = await this.#registrations.get(key);
    if (registration === null) return null;
    const { secretExpiresAt = Infinity, clientId } = registration;
    if (secretExpiresAt - EXPIRY_MARGIN_MS <= this.#now()) {
      await this.#registrations.delete(key, clientId);
      return null;
    }
    await this.#registrations.extend(key, REGISTRATION_SECONDS);
    return registration;
  }

  #registerOnce(place: ClientPlace, scopes: ScopesOfClient): Promise<UpstreamRegistration> {
    const key = keyOf(place);
    const name = `${key.issuer} ${key.redirectUri}`;
    return this.#registering.run(name, () => this.#register(key, place, scopes));
  }

  async #register(
    key: UpstreamRegistrationKey,
    { server, origin, fetch }: ClientPlace,
    { now: scopes, ofUpstream }: ScopesOfClient,
  ): Promise<UpstreamRegistration> {
    const options = { origin, scopes, fetch, now: this.#now() };
    const registration = await registerForAllScopes(server, ofUpstream ?? [], options);
    // The first one counts: another proxy may have registered meanwhile.
    return this.#registrations.save(key, registration, REGISTRATION_SECONDS);
  }
}

/**
 * Registers for all scopes that a server lists, or the upstream if the server lists none: the server may let its
 * client ask for no others when the upstream wants more of a user later. If it refuses that, registers for the
 * scopes of now.
 */
async function registerForAllScopes(
  server: AuthorizationServer,
  ofUpstream: readonly string[],
  options: RegisterClientOptions,
): Promise<UpstreamRegistration> {
  const listed = (server.scopes_supported ?? ofUpstream).filter(isScopeToken);
  const scopes = [...new Set([...options.scopes, ...listed])];
  if (scopes.length === options.scopes.length) return registerClient(server, options);
  return registerClient(server, { ...options, scopes }).catch((error: unknown) => {
    if (error instanceof UpstreamAuthError && error.reason === REFUSED) {
      return registerClient(server, options);
    }
    throw error;
  });
}

const REFUSED = 'upstream-auth-registration-refused';

function keyOf({ server, origin }: ClientPlace): UpstreamRegistrationKey {
  return { issuer: server.issuer, redirectUri: upstreamCallbackUrl(origin) };
}

function givenClient(
  { authStyle }: CompiledUpstreamOAuth,
  { id, secret, lacksSecret }: CompiledUpstreamClient,
  server: AuthorizationServer,
): UpstreamClient {
  if (lacksSecret === true) throw clientSecretMissing();
  if (secret === undefined) return { id, authMethod: 'none', source: 'given' };
  const authMethod = authStyle === undefined ? listedMethod(server) : METHODS[authStyle];
  return { id, secret, authMethod, source: 'given' };
}

function clientSecretMissing(): UpstreamAuthError {
  const message = 'the Secret of clientSecretRef is missing or cannot be used';
  const setting = 'mcp.server.upstreamOauth2.clientSecretRef';
  return new UpstreamAuthError('upstream-auth-no-client-secret', message, {
    step: 'token',
    missing: { setting },
  });
}

const METHODS = { header: 'client_secret_basic', params: 'client_secret_post' } as const;

/** Without a list it is `client_secret_basic` (RFC 8414, section 2). */
function listedMethod({
  token_endpoint_auth_methods_supported: listed = [],
}: AuthorizationServer): UpstreamAuthMethod {
  const onlyPost = listed.includes('client_secret_post') && !listed.includes('client_secret_basic');
  return onlyPost ? 'client_secret_post' : 'client_secret_basic';
}

function documentClient(origin: Origin): UpstreamClient {
  return { id: metadataDocumentUrl(origin), authMethod: 'none', source: 'metadata-document' };
}

function registeredClient({
  clientId,
  clientSecret,
  authMethod,
  registeredAt,
}: UpstreamRegistration): UpstreamClient {
  return {
    id: clientId,
    ...(clientSecret !== undefined && { secret: clientSecret }),
    authMethod,
    source: 'registered',
    registeredAt,
  };
}
