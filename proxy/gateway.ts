import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import type { LineWriter } from '../shared/telemetry/line-writer.ts';
import type { Logger } from '../shared/telemetry/logger.ts';
import type { CompiledSigningKeys, Snapshot } from '../shared/snapshot/snapshot.ts';
import { Sealer } from './crypto/sealer.ts';
import type { SealingKeys } from './crypto/sealing-key.ts';
import { TargetLoads } from './forwarding/targets/target-loads.ts';
import { OpenStreams } from './forwarding/response/open-streams.ts';
import { UpstreamPools } from './forwarding/targets/upstream-pools.ts';
import { AssertionSigner } from './identity/assertion/assertion.ts';
import { createIdentityEndpoints, type IdentityEndpoints } from './identity/identity-endpoints.ts';
import { createClientKeysReader } from './authorization-server/clients/client-keys.ts';
import { createFindClient } from './authorization-server/clients/find-client.ts';
import { createMetadataDocumentReader } from './authorization-server/clients/metadata-document.ts';
import { ExternalTokenAuthenticator } from './authentication/external-token-authenticator.ts';
import { ExternalTokens } from './authentication/external-tokens.ts';
import { RefreshTokens } from './authorization-server/grants/refresh-tokens.ts';
import { createOAuthEndpoints } from './authorization-server/oauth-endpoints.ts';
import { OAUTH_WELL_KNOWNS } from './authorization-server/well-knowns.ts';
import { createGuardedFetch, type GuardedFetch } from './outbound/guarded-fetch.ts';
import { createFailureAnswers } from './pipeline/answer-failure.ts';
import { Forwarder } from './pipeline/forward.ts';
import { handleRequest, type Stages } from './pipeline/handle-request.ts';
import { handleUpgrade } from './pipeline/handle-upgrade.ts';
import { configurationSteps } from './configuration/build-configuration.ts';
import type { Configuration } from './configuration/configuration.ts';
import { endpointFinder } from './endpoints/find-endpoint.ts';
import { ListenerSet } from './server/listener-set.ts';
import { type ListenAddress } from '../shared/runtime/listen-address.ts';
import {
  changesSince,
  type ResourceChange,
  type SnapshotDifference,
} from './configuration/snapshot-changes.ts';
import { atOnce, inSlices } from './configuration/steps.ts';
import { UnusedUpstreams } from './configuration/unused-upstreams.ts';
import { sessionsOfProvider } from './store/sessions-of-provider.ts';
import type { Stores } from './store/stores.ts';
import { AccessLog } from './telemetry/access-log.ts';
import { AuthorizeLog } from './telemetry/authorize-log.ts';

export interface GatewayOptions {
  /** Allows http on loopback for routes, providers and outbound requests. Never in production. */
  readonly devAllowLoopback: boolean;
  readonly sealingKeys: SealingKeys;
  /** Signs assertions where the settings name no keys. */
  readonly defaultSigningKeys: CompiledSigningKeys;
  readonly stores: Stores;
  readonly logger: Logger;
  /** Takes the authorization log, and the access log. */
  readonly lines: LineWriter;
  /** Writes a line for every request. */
  readonly accessLog?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Fetches what clients name by URL. */
  readonly guardedFetch?: GuardedFetch;
}

/** The data plane of one process. */
export interface Gateway {
  /**
   * Replaces the configuration whole, between requests; those under way keep theirs. Costs what is
   * another object than in the snapshot before. Throws, and changes nothing, when a part of it cannot
   * be served: `checkResources` tells which by themselves, `UnservableError` which beside each other.
   */
  apply(snapshot: Snapshot): void;
  /**
   * The same in time slices, between which requests are served by what served before; the last step
   * alone replaces it. Costs only what changed where the difference from what serves is known. Rejects
   * as `apply` throws, and where another snapshot was applied in between.
   */
  applyInSlices(snapshot: Snapshot, difference?: SnapshotDifference): Promise<void>;
  /**
   * Listens on exactly these addresses from now on, and resolves with what was bound. Rejects, and
   * changes nothing, when one cannot be had.
   */
  listen(addresses: readonly ListenAddress[]): Promise<readonly ListenAddress[]>;
  /** Version of the snapshot that is served; undefined before the first one. */
  version(): string | undefined;
  /** Why no requests should be sent here; undefined when they should. */
  whyNotReady(): UnreadyReason | undefined;
  /** Number of connections that clients have. */
  connections(): number;
  /**
   * Leaves a fleet so that no request fails. It is not ready from now on, and every response is the
   * last of its connection; after `minMs`, when it listens, it stops accepting, closes idle
   * connections, and ends what only listens: event streams that answer a GET, behind an event, and
   * WebSockets, with status 1001. Resolves when no connection is left; after another `timeoutMs` event
   * streams of calls are ended, and what is left is closed. `close` closes the rest of the gateway.
   */
  drain(times: DrainTimes): Promise<void>;
  /** Stops accepting, lets requests under way finish for a while, then closes everything. */
  close(): Promise<void>;
}

export type UnreadyReason = 'no snapshot yet' | 'not listening' | 'draining';

export interface DrainTimes {
  /** How long others may take to hear that nothing should be sent here. */
  readonly minMs: number;
  /** How long requests under way may take after that. */
  readonly timeoutMs: number;
}

/** Puts the data plane together: the only place in the proxy that knows every part. */
export function createGateway(options: GatewayOptions): Gateway {
  const { logger, lines, now = Date.now } = options;
  let configuration: Configuration | undefined;
  let served: Snapshot | undefined;
  const provider = (): string | undefined => configuration?.identityProvider?.name;
  const stores: Stores = {
    ...options.stores,
    sessions: sessionsOfProvider(options.stores.sessions, provider),
  };
  const sealer = new Sealer(options.sealingKeys);
  const outageGraceSeconds = (): number => configuration?.settings.outageGraceSeconds ?? 0;
  const caching = { stores, outageGraceSeconds, now };
  const identity = createIdentityEndpoints({ ...options, ...caching, sealer });
  const externalTokens = new ExternalTokens(sealer);
  const refreshTokens = new RefreshTokens(sealer);
  const tokenAuthenticator = new ExternalTokenAuthenticator({ ...caching, externalTokens });
  const pools = new UpstreamPools();
  const unusedUpstreams = new UnusedUpstreams(pools, logger);
  const streams = new OpenStreams();
  let isDraining = false;
  const stages: Stages = {
    configuration() {
      // Listeners are opened after the first snapshot.
      if (configuration === undefined) throw new Error('there is no configuration yet');
      return configuration;
    },
    findEndpoint: endpointFinder(
      {
        ...identity.endpoints,
        ...createOAuthEndpoints(
          authorizationServer(
            { ...options, stores },
            { identity, externalTokens, refreshTokens, now },
          ),
        ),
      },
      OAUTH_WELL_KNOWNS,
    ),
    authenticators: {
      'session-cookie': identity.sessionCookies,
      'external-token': tokenAuthenticator,
    },
    authorizeLog: new AuthorizeLog(lines, now),
    accessLog: options.accessLog === true ? new AccessLog(lines, now) : undefined,
    assertions: new AssertionSigner({ defaultKeys: options.defaultSigningKeys, now }),
    random: Math.random,
    forwarder: new Forwarder({ pools, loads: new TargetLoads(), streams }),
    answerFailure: createFailureAnswers({ logger, redirectToSignIn: identity.redirectToSignIn }),
  };
  const listeners = new ListenerSet({
    request(message, response) {
      handleRequest(message, response, stages).catch(giveUp(message.socket, logger));
    },
    upgrade(message, socket, head) {
      handleUpgrade(message, { socket, head }, stages).catch(giveUp(socket, logger));
    },
  });
  const serve = (next: Configuration, { snapshot, changes }: SnapshotChange): void => {
    configuration = next;
    served = snapshot;
    unusedUpstreams.follow(changes);
  };
  return {
    apply(snapshot) {
      const changes = changesSince(served, snapshot, undefined);
      const next = atOnce(configurationSteps(configuration, snapshot, changes));
      serve(next, { snapshot, changes });
    },
    async applyInSlices(snapshot, difference) {
      const before = configuration;
      const changes = changesSince(served, snapshot, difference);
      const next = await inSlices(configurationSteps(before, snapshot, changes));
      if (configuration !== before) throw new Error('another snapshot was applied meanwhile');
      serve(next, { snapshot, changes });
    },
    listen: (addresses) => listeners.listen(addresses),
    version: () => configuration?.version,
    whyNotReady() {
      if (isDraining) return 'draining';
      if (configuration === undefined) return 'no snapshot yet';
      return listeners.isListening ? undefined : 'not listening';
    },
    connections: () => listeners.connections(),
    async drain({ minMs, timeoutMs }) {
      isDraining = true;
      listeners.announceClose();
      // Nobody sends anything here.
      if (listeners.isListening) await sleep(minMs);
      streams.endListeners();
      await listeners.close(timeoutMs, () => streams.endAll());
    },
    async close() {
      isDraining = true;
      await listeners.close();
      await pools[Symbol.asyncDispose]();
      identity[Symbol.dispose]();
      tokenAuthenticator[Symbol.dispose]();
    },
  };
}

/** A snapshot, and what changes with it. */
interface SnapshotChange {
  readonly snapshot: Snapshot;
  readonly changes: readonly ResourceChange[];
}

/** The last resort, when even the answer to a failure failed: one connection goes, not the process. */
function giveUp(socket: Duplex, logger: Logger): (error: unknown) => void {
  return (error) => {
    socket.destroy();
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error('request failed unexpectedly', { stack }, error);
  };
}

function authorizationServer(
  { stores, logger, devAllowLoopback, ...options }: GatewayOptions,
  parts: {
    readonly identity: IdentityEndpoints;
    readonly externalTokens: ExternalTokens;
    readonly refreshTokens: RefreshTokens;
    readonly now: () => number;
  },
): Parameters<typeof createOAuthEndpoints>[0] {
  const { identity, externalTokens, refreshTokens, now } = parts;
  const guardedFetch = options.guardedFetch ?? createGuardedFetch({ devAllowLoopback });
  const readMetadataDocument = createMetadataDocumentReader({
    guardedFetch,
    devAllowLoopback,
    now,
  });
  return {
    stores,
    externalTokens,
    refreshTokens,
    sessionOf: identity.sessionOf,
    logger,
    now,
    findClient: createFindClient({ clients: stores.clients, readMetadataDocument }),
    readClientKeys: createClientKeysReader({ guardedFetch, now }),
    sessionCookies: identity.sessionCookies,
    redirectToSignIn: identity.redirectToSignIn,
  };
}
