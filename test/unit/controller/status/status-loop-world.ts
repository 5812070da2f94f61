import { afterEach } from '@jest/globals';

import { GATEWAY_SETTINGS, ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import type { Problem } from '../../../../controller/validate/problem.ts';
import type { Leadership } from '../../../../controller/leader/leadership.ts';
import type { RolloutState, ProxyReport } from '../../../../controller/push/publication.ts';
import {
  parseStoredRoute,
  parseStoredSettings,
} from '../../../../controller/kubernetes/parse-stored.ts';
import type {
  RouteStatus,
  SettingsStatus,
  StoredRoute,
} from '../../../../controller/kubernetes/stored-resources.ts';
import { StatusLoop } from '../../../../controller/status/status-loop.ts';
import { DEFAULT_LIMITS } from '../../../../controller/status/status-writer.ts';
import { FakePublication } from '../../../support/fake-publication.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { routeVerdict } from '../../../support/verdicts.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';

export const SECOND = 1000;
export const MINUTE = 60_000;
export const PENDING: RolloutState = { kind: 'pending', acknowledged: 0, proxies: 3 };
export const REJECTED: RolloutState = { kind: 'rejected', proxy: 'proxy-0', message: 'bad host' };
export const BAD: Problem = { path: 'spec.policy', reason: 'InvalidPolicy', message: 'no' };
export const DELETION = { deletionTimestamp: '2026-01-01T00:00:00Z' };
export const PROXY: ProxyReport = {
  id: 'proxy-0',
  isConnected: true,
  isReady: true,
  isDraining: false,
  position: undefined,
  lagMs: 0,
  isSynced: true,
  rejected: [],
};
const ends: AbortController[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end.abort();
});

/** An API server, a clock and a publication, without a loop. */
export function makeWorld() {
  const api = new MemoryApi();
  const clock = new ManualClock();
  const logger = recordingLogger();
  const metrics = new ReadableControllerMetrics();
  const publication = new FakePublication();
  const open = () =>
    new StatusLoop({
      api,
      metrics,
      logger,
      clock,
      identity: 'pod_1',
      gatewayClass: 'gatehouse',
      wallTime: () => clock.wallTime(),
      limits: { ...DEFAULT_LIMITS, settlingMs: 0 },
    });
  const writes = (name?: string) =>
    api.requests.filter(
      (request) => request.verb === 'apply-status' && (name === undefined || request.name === name),
    );
  const events = () =>
    api.requests.filter(({ plural }) => plural === 'events').map(({ object }) => object);
  return { api, clock, logger, metrics, publication, open, writes, events };
}

export type World = ReturnType<typeof makeWorld>;

/** Makes a loop lead. Aborting the result ends the leadership. */
export function lead({ publication }: World, loop: StatusLoop): AbortController {
  const end = new AbortController();
  ends.push(end);
  const leadership: Leadership = {
    epoch: 1,
    signal: end.signal,
    get isCurrent() {
      return !end.signal.aborted;
    },
    raiseEpochAbove: (epoch) => Promise.resolve(epoch + 1),
  };
  loop.beginTerm({ leadership, publication });
  return end;
}

/** A loop that leads, with a Route that has no status. */
export async function world() {
  const made = makeWorld();
  await made.api.create(ROUTES, 'team-a', { metadata: { name: 'files' } });
  await made.api.create(GATEWAY_SETTINGS, 'gatehouse', { metadata: { name: 'gatehouse' } });
  const loop = made.open();
  const end = lead(made, loop);
  await made.clock.advance(0);
  return { ...made, loop, end };
}

/** Reports a verdict on a Route of namespace `team-a`. */
export function tell(loop: StatusLoop, outline: Parameters<typeof routeVerdict>[0] = {}): void {
  const { name = 'files' } = outline;
  loop.reportRoutes(new Map([[`team-a/${name}`, routeVerdict(outline)]]));
}

/** Route `team-a/files` as the API server has it. */
export function readRoute({ api }: Pick<World, 'api'>): StoredRoute | undefined {
  const object = api.read(ROUTES, { namespace: 'team-a', name: 'files' });
  return object && parseStoredRoute(object);
}

/** The status of Route `team-a/files`. */
export function routeStatusOf(made: Pick<World, 'api'>): RouteStatus {
  return readRoute(made)?.status ?? {};
}

/** The status of the GatewaySettings. */
export function settingsStatusOf({ api }: Pick<World, 'api'>): SettingsStatus {
  const object = api.read(GATEWAY_SETTINGS, { namespace: 'gatehouse', name: 'gatehouse' });
  return (object && parseStoredSettings(object).status) ?? {};
}

/** The reason of a condition. */
export function reasonOf(
  status: RouteStatus | SettingsStatus,
  type = 'Programmed',
): string | undefined {
  return status.conditions?.find((condition) => condition.type === type)?.reason;
}
