import type { AuthorizationServer } from 'oauth4webapi';

import { SingleFlight } from '../../cache/single-flight.ts';
import { UpstreamAuthError } from '../../errors/upstream-auth-error.ts';
import { isOnAllowedDomain } from '../../outbound/allowed-domain.ts';
import { domainNotAllowed, mostTelling } from '../calls/discovery-failures.ts';
import type { UpstreamCallContext, UpstreamCalls } from '../calls/upstream-calls.ts';
import type { AuthorizationServers } from './authorization-servers.ts';
import type { UpstreamChallenge } from './bearer-challenge.ts';
import { givenServer } from './given-server.ts';
import { findResourceMetadata, type ResourceMetadata } from './resource-metadata.ts';
import { askForChallenge } from './unprompted-challenge.ts';
import type { Upstream } from './upstream.ts';

/** Bounds discovery as a whole: a user waits for it. */
const TIMEOUT_MS = 20_000;

/** A new connection uses metadata that are not older. */
const MAX_AGE_SECONDS = 60;

/** What discovery finds out about an upstream. */
export interface DiscoveredUpstream {
  readonly server: AuthorizationServer;
  /** Value of the parameter `resource`. */
  readonly resource: string;
  /** Scopes; see `ScopeSources`. */
  readonly ofChallenge: string | undefined;
  /** Scopes; see `ScopeSources`. */
  readonly ofMetadata: readonly string[] | undefined;
}

/** Options of `UpstreamDiscovery`. */
export interface UpstreamDiscoveryOptions {
  readonly calls: UpstreamCalls;
  readonly servers: AuthorizationServers;
}

/** Finds the authorization server of upstreams (MCP specification, Authorization). */
export class UpstreamDiscovery {
  readonly #calls: UpstreamCalls;
  readonly #servers: AuthorizationServers;
  readonly #underWay = new SingleFlight<DiscoveredUpstream>();

  constructor({ calls, servers }: UpstreamDiscoveryOptions) {
    this.#calls = calls;
    this.#servers = servers;
  }

  /**
   * Returns the first usable authorization server of an upstream. Rejects with an `UpstreamAuthError`.
   * Concurrent calls for one upstream are one: users who all connect after an outage ask it once.
   */
  async discover(
    upstream: Upstream,
    prompted: UpstreamChallenge | undefined,
    context: UpstreamCallContext,
  ): Promise<DiscoveredUpstream> {
    const given = givenServer(upstream.oauth);
    if (given !== undefined) {
      const ofChallenge = prompted?.scope;
      return { server: given, resource: upstream.url, ofChallenge, ofMetadata: undefined };
    }
    const { allowedDomains, allowedCidrs } = context;
    const key = JSON.stringify([upstream, prompted, allowedDomains, allowedCidrs]);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return this.#underWay.run(key, () =>
      this.#discover(upstream, prompted, { ...context, signal }),
    );
  }

  async #discover(
    upstream: Upstream,
    prompted: UpstreamChallenge | undefined,
    context: UpstreamCallContext,
  ): Promise<DiscoveredUpstream> {
    const challenge = prompted ?? (await askForChallenge(upstream.url, this.#calls, context));
    const described = await this.#describe(upstream, challenge?.resourceMetadata, context);
    const server = await this.#firstUsable(described.authorizationServers, upstream, context);
    const { resource, scopes } = described;
    return { server, resource, ofChallenge: challenge?.scope, ofMetadata: scopes };
  }

  async #describe(
    { url, oauth: { fallbackIssuer } }: Upstream,
    ofChallenge: string | undefined,
    context: UpstreamCallContext,
  ): Promise<ResourceMetadata> {
    try {
      return await findResourceMetadata(url, ofChallenge, this.#calls, context);
    } catch (error) {
      const isWrong =
        error instanceof UpstreamAuthError && error.reason === 'upstream-auth-resource-mismatch';
      if (fallbackIssuer === undefined || isWrong) throw error;
      return { resource: url, authorizationServers: [fallbackIssuer], scopes: undefined };
    }
  }

  async #firstUsable(
    issuers: readonly string[],
    upstream: Upstream,
    context: UpstreamCallContext,
  ): Promise<AuthorizationServer> {
    const errors: UpstreamAuthError[] = [];
    for (const issuer of issuers) {
      try {
        const server = await this.#servers.get(issuer, context, { maxAgeSeconds: MAX_AGE_SECONDS });
        checkEndpoints(server, upstream, context);
        return server;
      } catch (error) {
        if (!(error instanceof UpstreamAuthError)) throw error;
        errors.push(error);
      }
    }
    throw mostTelling(errors) ?? new Error('metadata name at least one server');
  }
}

/** Refuses a server whose endpoints could not be asked, before a user is sent there in vain. */
function checkEndpoints(
  { token_endpoint: token, registration_endpoint: registration }: AuthorizationServer,
  { oauth }: Upstream,
  { allowedDomains }: UpstreamCallContext,
): void {
  const needsRegistration = oauth.client === undefined;
  const endpoints = [
    ['token', token],
    ['registration', needsRegistration ? registration : undefined],
  ] as const;
  for (const [step, url] of endpoints) {
    if (url === undefined || allowedDomains === undefined) continue;
    if (!isOnAllowedDomain(url, allowedDomains)) throw domainNotAllowed(url, step);
  }
}
