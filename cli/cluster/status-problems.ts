import type { SettingsStatus } from '../../controller/kubernetes/stored-resources.ts';
import { durationMsOf, holderOf, type Lease } from '../../controller/leader/lease.ts';
import { unmetCause } from './condition-cause.ts';
import { valueOf, type GatewayFacts, type SettingsFacts } from './read-gateway.ts';
import type { RouteFacts } from './route-facts.ts';

const SECOND = 1000;
/** How far the clock of this machine and those of the cluster may differ. */
const CLOCK_SKEW_MS = 30 * SECOND;
/** How long proxies may take for a new snapshot before that is a problem. */
const PATIENCE_MS = 60 * SECOND;
/** The random end of the name of a holder: the pod is what people look for. */
const RANDOM_END = /_[0-9a-f]{16}$/;

/** Something that is wrong. */
export interface StatusProblem {
  /** `Route shop/app`, for example. */
  readonly about: string;
  readonly reason: string;
  readonly message: string;
}

/** Returns what is wrong with a gateway. `now` is in milliseconds since the epoch. */
export function statusProblems(facts: GatewayFacts, now: number): readonly StatusProblem[] {
  const [settings, lease] = [valueOf(facts.settings), valueOf(facts.lease)];
  return [
    ...absences(facts),
    ...(settings ? settingsProblems(settings, now) : []),
    ...(lease ? leaseProblems(lease, now) : []),
    ...(valueOf(facts.routes)?.routes.flatMap(routeProblem) ?? []),
  ];
}

/** Returns the pod that holds a Lease; empty if none does. */
export function podOf(lease: Lease): string {
  return holderOf(lease).replace(RANDOM_END, '');
}

function absences({ settings, lease }: GatewayFacts): readonly StatusProblem[] {
  return [
    ...(settings.kind === 'absent'
      ? [{ about: 'GatewaySettings', reason: 'NotFound', message: settings.why }]
      : []),
    ...(lease.kind === 'absent'
      ? [{ about: 'controllers', reason: 'NoLeader', message: 'No controller has ever led.' }]
      : []),
  ];
}

function settingsProblems(
  { metadata, status = {} }: SettingsFacts,
  now: number,
): readonly StatusProblem[] {
  const about = `GatewaySettings ${metadata.namespace ?? ''}/${metadata.name}`;
  const { conditions, observedGeneration = 0, proxies, snapshot } = status;
  const cause =
    conditions === undefined || observedGeneration < (metadata.generation ?? 0)
      ? { reason: 'NotReported', message: 'The controller has not reported on them yet.' }
      : unmetCause(conditions);
  const published = snapshot === undefined ? now : Date.parse(snapshot.time);
  return [
    ...(cause === undefined ? [] : [{ about, reason: cause.reason, message: cause.message }]),
    ...(proxies === undefined ? [] : proxyProblems(proxies, now - published)),
  ];
}

function proxyProblems(
  { connected, ready, synced, rejected }: NonNullable<SettingsStatus['proxies']>,
  ageMs: number,
): readonly StatusProblem[] {
  const about = 'proxies';
  const of = (count: number): string =>
    `${String(count)} of ${String(connected)} connected proxies`;
  const isLate = ageMs > PATIENCE_MS;
  return [
    ...(connected === 0 ? [{ about, reason: 'NoProxies', message: 'No proxy is connected.' }] : []),
    ...(rejected > 0
      ? [{ about, reason: 'Rejected', message: `${of(rejected)} reject a part of the snapshot.` }]
      : []),
    ...(ready < connected
      ? [{ about, reason: 'NotReady', message: `${of(connected - ready)} are not ready.` }]
      : []),
    ...(synced < connected && isLate
      ? [{ about, reason: 'Behind', message: `${of(connected - synced)} have an older snapshot.` }]
      : []),
  ];
}

function leaseProblems(lease: Lease, now: number): readonly StatusProblem[] {
  const about = 'controllers';
  const reason = 'NoLeader';
  if (holderOf(lease) === '') return [{ about, reason, message: 'No controller leads.' }];
  const end = Date.parse(lease.spec?.renewTime ?? '') + (durationMsOf(lease) ?? 0) + CLOCK_SKEW_MS;
  if (!(end < now)) return [];
  const message = `No controller leads: ${podOf(lease)} did, and renewed its Lease last at ${lease.spec?.renewTime ?? ''}.`;
  return [{ about, reason, message }];
}

function routeProblem({ namespace, name, state, cause }: RouteFacts): readonly StatusProblem[] {
  if (state !== 'problem' || cause === undefined) return [];
  const { reason, message } = cause;
  return [{ about: `Route ${namespace}/${name}`, reason, message }];
}
