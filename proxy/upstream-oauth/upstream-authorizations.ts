import type { Origin } from '../../shared/snapshot/origin.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { UpstreamAuthError } from '../errors/upstream-auth-error.ts';
import { UpstreamCalls, type UpstreamCallsOptions } from './calls/upstream-calls.ts';
import { AuthorizationServers } from './discovery/authorization-servers.ts';
import type { UpstreamChallenge } from './discovery/bearer-challenge.ts';
import { givenServer } from './discovery/given-server.ts';
import { selectScopes } from './discovery/scopes.ts';
import { UpstreamDiscovery } from './discovery/upstream-discovery.ts';
import { callContextOf, upstreamOf } from './discovery/upstream.ts';
import { RegistrationChecks, type RegistrationChecksOptions } from './registration-checks.ts';
import { upstreamCallbackUrl } from './registration/client-metadata.ts';
import {
  type ClientPlace,
  type ScopesOfClient,
  UpstreamClients,
  type UpstreamClientsOptions,
} from './registration/upstream-clients.ts';
import type { UpstreamAuthReports } from './upstream-auth-reports.ts';
import type { UpstreamAuthorization, UpstreamServer } from './upstream-authorization.ts';

/** Options of `UpstreamAuthorizations`. */
export interface UpstreamAuthorizationsOptions
  extends UpstreamCallsOptions, UpstreamClientsOptions, RegistrationChecksOptions {
  /** Accepts http on loopback. */
  readonly devAllowLoopback: boolean;
  readonly reports: UpstreamAuthReports;
}

/** What a connection begins with. */
export interface ConnectionContext {
  /** For logs. Absent if no request caused it. */
  readonly requestId?: string;
  /** The challenge of the upstream. Absent if there is none yet: then the upstream is asked for one. */
  readonly challenge?: UpstreamChallenge;
  /** Scopes to ask for in any case, besides those that the settings, challenge or metadata name. */
  readonly moreScopes?: readonly string[];
}

/** What was recorded with a token or a pending connection. */
export interface RecordedIssuer {
  readonly issuer: string;
  readonly clientId: string;
  /** For logs. Absent if no request caused it. */
  readonly requestId?: string;
}

type Settings = Pick<Configuration, 'settings'>;

/**
 * Finds the authorization server of an upstream, and makes the gateway its client (specification: Upstream
 * OAuth pipeline). Routes passed to it have upstream OAuth. All requests are guarded and logged.
 */
export class UpstreamAuthorizations {
  readonly #calls: UpstreamCalls;
  readonly #servers: AuthorizationServers;
  readonly #discovery: UpstreamDiscovery;
  readonly #clients: UpstreamClients;
  readonly #registrationChecks: RegistrationChecks;
  readonly #reports: UpstreamAuthReports;

  constructor(options: UpstreamAuthorizationsOptions) {
    this.#calls = new UpstreamCalls(options);
    this.#servers = new AuthorizationServers({ ...options, calls: this.#calls });
    this.#discovery = new UpstreamDiscovery({ calls: this.#calls, servers: this.#servers });
    this.#clients = new UpstreamClients(options);
    this.#registrationChecks = new RegistrationChecks(options);
    this.#reports = options.reports;
  }

  /**
   * Finds everything for a new connection, at the route host with this origin. Rejects with an
   * `UpstreamAuthError`, which is reported.
   */
  async forConnection(
    route: CompiledRoute,
    origin: Origin,
    configuration: Settings,
    { requestId, challenge, moreScopes = [] }: ConnectionContext = {},
  ): Promise<UpstreamAuthorization> {
    const upstream = upstreamOf(route);
    const { oauth } = upstream;
    const context = callContextOf(upstream, configuration, requestId);
    try {
      const discovered = await this.#discovery.discover(upstream, challenge, context);
      const { server, resource } = discovered;
      const sources = { ...discovered, configured: oauth.scopes, more: moreScopes };
      const scopes = selectScopes(sources, server);
      const fetch = this.#calls.fetchFor(server, context);
      const place = { server, origin, oauth, fetch, report: this.#reportsOf(route) };
      const ofUpstream = discovered.ofMetadata;
      const found = await this.#withClient(place, { now: scopes, ofUpstream });
      // Whether the server accepts another client shows at the token endpoint.
      const isAccepted = found.client.source === 'registered';
      if (isAccepted) this.#reports.report(route.name, { kind: 'success' });
      return { ...found, resource, scopes };
    } catch (error) {
      if (error instanceof UpstreamAuthError) {
        const { reason, message } = error;
        this.#reports.report(route.name, { kind: 'failure', reason, message });
      }
      throw error;
    }
  }

  /** Registers the gateway again, once, if the server has forgotten it. */
  async #withClient(
    place: ClientPlace & Pick<UpstreamServer, 'report'>,
    scopes: ScopesOfClient,
  ): Promise<UpstreamServer> {
    const { server, fetch, oauth, origin, report } = place;
    const { issuer } = server;
    const isGiven = oauth.endpoints !== undefined;
    const client = await this.#clients.forConnection(place, scopes);
    const found = { server, issuer, isGiven, client, fetch, report };
    if (!(await this.#registrationChecks.isForgotten(found))) return found;
    await this.forgetRegistration(issuer, upstreamCallbackUrl(origin), client.id);
    return { ...found, client: await this.#clients.forConnection(place, scopes) };
  }

  /**
   * Returns the server that issued a token, or where a connection was started; null if the gateway is not its
   * client with this id any more, or if the settings name another server. Rejects with an `UpstreamAuthError`.
   */
  async forIssuer(
    route: CompiledRoute,
    origin: Origin,
    configuration: Settings,
    { issuer, clientId, requestId }: RecordedIssuer,
  ): Promise<UpstreamServer | null> {
    const upstream = upstreamOf(route);
    const { oauth } = upstream;
    const context = callContextOf(upstream, configuration, requestId);
    const given = givenServer(oauth);
    if (given !== undefined && given.issuer !== issuer) return null;
    const server = given ?? (await this.#servers.get(issuer, context));
    const fetch = this.#calls.fetchFor(server, context);
    const client = await this.#clients.withId(clientId, { server, origin, oauth, fetch });
    if (client === null) return null;
    const report = this.#reportsOf(route);
    const isGiven = given !== undefined;
    return { server, issuer: server.issuer, isGiven, client, fetch, report };
  }

  /**
   * Forgets the registration of a client that its server does not know any more: the next connection registers
   * again. Does nothing for other clients.
   */
  forgetRegistration(issuer: string, callback: string, clientId: string): Promise<void> {
    return this.#clients.forget(issuer, callback, clientId);
  }

  #reportsOf({ name }: CompiledRoute): UpstreamServer['report'] {
    return (outcome) => this.#reports.report(name, outcome);
  }
}
