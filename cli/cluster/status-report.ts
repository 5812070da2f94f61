import type { SettingsStatus } from '../../controller/kubernetes/stored-resources.ts';
import type { Lease } from '../../controller/leader/lease.ts';
import type { ClusterFlags } from '../flags/cluster-flags.ts';
import { byExpiry, type CertificateFacts } from './certificate-facts.ts';
import {
  valueOf,
  type GatewayFacts,
  type RoutesFound,
  type SettingsFacts,
} from './read-gateway.ts';
import type { RouteState } from './route-facts.ts';
import { podOf, statusProblems, type StatusProblem } from './status-problems.ts';

const SECOND = 1000;

/** What `gatehouse status` shows. What could not be read is absent, and a note says so. */
export interface StatusReport {
  readonly gateway: { readonly namespace: string; readonly name: string; readonly class: string };
  readonly problems: readonly StatusProblem[];
  readonly notes: readonly string[];
  readonly settings?: {
    readonly generation: number;
    readonly conditions: NonNullable<SettingsStatus['conditions']>;
    readonly addresses: readonly string[];
  };
  readonly snapshot?: NonNullable<SettingsStatus['snapshot']> & { readonly ageSeconds: number };
  readonly proxies?: NonNullable<SettingsStatus['proxies']>;
  readonly leader?: {
    /** Empty: nobody leads. */
    readonly pod: string;
    readonly renewedSecondsAgo?: number;
  };
  readonly routes?: Readonly<Record<RouteState | 'total', number>> & {
    /** `*`: all namespaces. */
    readonly namespace: string;
  };
  /** In use for TLS with clients; the one that expires first is first. */
  readonly certificates: readonly CertificateFacts[];
}

/** Says of a gateway what is wrong and what is right. `now` is in milliseconds since the epoch. */
export function statusReport(
  facts: GatewayFacts,
  { settings: place, gatewayClass }: Pick<ClusterFlags, 'settings' | 'gatewayClass'>,
  now: number,
): StatusReport {
  const { settings, lease, routes } = facts;
  const [ofSettings, ofLease, ofRoutes] = [valueOf(settings), valueOf(lease), valueOf(routes)];
  return {
    gateway: { ...place, class: gatewayClass },
    problems: statusProblems(facts, now),
    notes: [...unreadable(facts), ...(ofRoutes ? routeNotes(ofRoutes) : [])],
    ...(ofSettings && settingsPart(ofSettings, now)),
    ...(ofLease && { leader: leaderOf(ofLease, now) }),
    ...(ofRoutes && { routes: countRoutes(ofRoutes) }),
    certificates: byExpiry([
      ...(ofSettings?.certificates ?? []),
      ...(ofRoutes?.routes.flatMap(({ certificates }) => certificates) ?? []),
    ]),
  };
}

function unreadable(facts: GatewayFacts): readonly string[] {
  return [facts.settings, facts.lease, facts.routes].flatMap((part) =>
    part.kind === 'forbidden' ? [part.why] : [],
  );
}

function routeNotes({ routes, note }: RoutesFound): readonly string[] {
  const warnings = routes.flatMap(({ namespace, name, warnings }) =>
    warnings.map(({ reason, message }) => `Route ${namespace}/${name}: ${reason}: ${message}`),
  );
  return [...(note === undefined ? [] : [note]), ...warnings];
}

function settingsPart(
  { metadata, status = {} }: SettingsFacts,
  now: number,
): Pick<StatusReport, 'settings' | 'snapshot' | 'proxies'> {
  const { conditions = [], addresses = [], snapshot, proxies } = status;
  return {
    settings: {
      generation: metadata.generation ?? 0,
      conditions,
      addresses: addresses.map(({ value }) => value),
    },
    ...(snapshot && { snapshot: { ...snapshot, ageSeconds: since(snapshot.time, now) } }),
    ...(proxies && { proxies }),
  };
}

function leaderOf(lease: Lease, now: number): NonNullable<StatusReport['leader']> {
  const { renewTime } = lease.spec ?? {};
  return {
    pod: podOf(lease),
    ...(renewTime !== undefined && { renewedSecondsAgo: since(renewTime, now) }),
  };
}

function countRoutes({ namespace, routes }: RoutesFound): NonNullable<StatusReport['routes']> {
  const count = (state: RouteState): number =>
    routes.filter((route) => route.state === state).length;
  return {
    namespace: namespace ?? '*',
    total: routes.length,
    serving: count('serving'),
    pending: count('pending'),
    problem: count('problem'),
  };
}

function since(time: string, now: number): number {
  return Math.max(0, Math.round((now - Date.parse(time)) / SECOND));
}
