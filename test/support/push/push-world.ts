import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Leadership } from '../../../controller/leader/leadership.ts';
import type { AuthenticateProxy } from '../../../controller/push/server/authenticate-proxy.ts';
import type { Publication, PublishedRevision } from '../../../controller/push/publication.ts';
import type { PushTiming } from '../../../controller/push/push-timing.ts';
import { startPushServer, type PushServer } from '../../../controller/push/server/push-server.ts';
import { monotonicClock, type Clock } from '../../../shared/runtime/clock.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import { createRecordingLogger, type RecordingLogger } from '../redis/recording-logger.ts';
import { createThrowawayAuthority, type ThrowawayAuthority } from '../throwaway-authority.ts';
import { connectProbe, type ProbeOptions, type PushProbe } from './push-probe.ts';
import { ReadableControllerMetrics } from '../metrics/readable-controller-metrics.ts';

/** A leadership that a test ends. */
export interface TestLeadership extends Leadership {
  readonly epoch: number;
  /** Arguments of the calls of `raiseEpochAbove`. */
  readonly raises: readonly number[];
  /** Makes `raiseEpochAbove` wait until the returned function is called. */
  holdRaises(): () => void;
  end(): void;
}

/** Makes a leadership. */
export function aLeadership(epoch: number): TestLeadership {
  const over = new AbortController();
  const raises: number[] = [];
  let highest = epoch;
  let held = Promise.resolve();
  return {
    get epoch() {
      return highest;
    },
    get isCurrent() {
      return !over.signal.aborted;
    },
    signal: over.signal,
    raises,
    async raiseEpochAbove(above) {
      raises.push(above);
      await held;
      over.signal.throwIfAborted();
      highest = Math.max(highest, above) + 1;
      return highest;
    },
    holdRaises() {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      held = promise.then(() => undefined);
      return () => resolve(undefined);
    },
    end: () => over.abort(new Error('the leadership is over')),
  };
}

/** A push server on loopback with a certificate of its own. */
export interface PushWorld extends AsyncDisposable {
  readonly server: PushServer;
  readonly port: number;
  readonly authority: ThrowawayAuthority;
  /** Directory of its certificate. */
  readonly tlsDirectory: string;
  readonly logger: RecordingLogger;
  readonly metrics: ReadableControllerMetrics;
  /** Keys that `onChange` received, one set per call. */
  readonly changes: readonly (ReadonlySet<string> | 'all')[];
  /** What `onPublished` received. */
  readonly published: readonly PublishedRevision[];
  lead(leadership: Leadership): Publication & AsyncDisposable;
  /** Opens a probe, which is closed with the world. */
  connect(options: Partial<ProbeOptions> & { readonly id: string }): Promise<PushProbe>;
}

/** Starts a push server. By default a proxy authenticates with the token `token-of-<id>`. */
export async function startPushWorld({
  timing = {},
  authenticate = byName,
  leaderAddress = () => undefined,
  clock = monotonicClock,
  tracer,
}: {
  readonly timing?: Partial<PushTiming>;
  readonly authenticate?: AuthenticateProxy;
  readonly leaderAddress?: () => string | undefined;
  readonly clock?: Clock;
  readonly tracer?: Tracer;
} = {}): Promise<PushWorld> {
  const authority = createThrowawayAuthority();
  const tlsDirectory = await mkdtemp(join(tmpdir(), 'gatehouse-push-'));
  await writeCertificate(tlsDirectory, authority.issue(['127.0.0.1']));
  const logger = createRecordingLogger();
  const metrics = new ReadableControllerMetrics();
  const server = await startPushServer({
    listen: { host: '127.0.0.1', port: 0 },
    tlsDirectory,
    authenticate,
    leaderAddress,
    logger,
    metrics: metrics.push,
    tracer,
    timing,
    clock,
  });
  const { port } = server.address;
  const changes: (ReadonlySet<string> | 'all')[] = [];
  const published: PublishedRevision[] = [];
  const probes: PushProbe[] = [];
  return {
    server,
    port,
    authority,
    tlsDirectory,
    logger,
    metrics,
    changes,
    published,
    lead: (leadership) =>
      server.startPublication(leadership, {
        onChange: (keys) => changes.push(keys),
        onPublished: (revision) => published.push(revision),
      }),
    connect: async (options) => {
      const probe = await connectProbe({ port, ca: authority.ca, ...options });
      probes.push(probe);
      return probe;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = await Promise.allSettled(probes.map((probe) => probe[Symbol.asyncDispose]()));
      await server.close();
      await rm(tlsDirectory, { recursive: true });
      for (const result of closed) if (result.status === 'rejected') throw result.reason;
    },
  };
}

/** Writes the two files of a certificate, like a mounted Secret. */
export async function writeCertificate(
  directory: string,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<void> {
  await writeFile(join(directory, 'tls.crt'), cert);
  await writeFile(join(directory, 'tls.key'), key, { mode: 0o600 });
}

const byName: AuthenticateProxy = ({ token, proxyId }) =>
  Promise.resolve(
    token === `token-of-${proxyId}`
      ? { kind: 'authenticated' }
      : { kind: 'refused', status: 401, reason: 'invalid-token' },
  );
