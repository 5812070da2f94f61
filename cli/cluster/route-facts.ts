import type { KubernetesObject } from '../../controller/kubernetes/objects.ts';
import { parseStoredRoute } from '../../controller/kubernetes/parse-stored.ts';
import type { StoredRoute } from '../../controller/kubernetes/stored-resources.ts';
import { findCondition, type Condition } from '../../controller/status/condition.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import { compareText } from '../../shared/runtime/compare-text.ts';
import { certificatesIn, type CertificateFacts } from './certificate-facts.ts';
import { unmetCause, type Cause } from './condition-cause.ts';

const SECOND = 1000;
/** What takes longer than this to be reported or served is a problem. */
const PATIENCE_MS = 60 * SECOND;

/** Conditions that are bad news while they are true, and no failure. */
const WARNINGS: ReadonlySet<string> = new Set(['PartiallyInspected', 'ConsentExposed']);

/** Whether a Route serves as its newest generation says. */
export type RouteState = 'serving' | 'pending' | 'problem';

/** What a Route and its status say. */
export interface RouteFacts {
  readonly namespace: string;
  readonly name: string;
  /** Empty if the Route has none. */
  readonly from: string;
  /** The upstream; empty if it is a Service. */
  readonly to: string;
  readonly kind: 'web' | 'public' | 'mcp' | 'application';
  readonly accepted: Condition['status'];
  readonly programmed: Condition['status'];
  readonly state: RouteState;
  /** Why it does not serve so; absent if it does. */
  readonly cause?: Cause;
  /** What deserves a look although it serves. */
  readonly warnings: readonly Cause[];
  readonly certificates: readonly CertificateFacts[];
  /** Milliseconds since the epoch; NaN if unknown. */
  readonly createdAt: number;
}

/** Reads what a Route of this class says of itself. `now` is in milliseconds since the epoch. */
export function routeFacts(
  object: KubernetesObject,
  gatewayClass: string,
  now: number,
): RouteFacts {
  const route = parseStoredRoute(object);
  const { metadata, spec } = route;
  const members = isRecord(spec) ? spec : {};
  const conditions = reportedConditions(route, gatewayClass);
  const createdAt = Date.parse(metadata.creationTimestamp ?? '');
  const cause = conditions === undefined ? notReported(route) : unmetCause(conditions);
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    from: textOf(members['from']),
    to: textOf(members['to']),
    kind: kindOf(members),
    accepted: findCondition(conditions, 'Accepted')?.status ?? 'Unknown',
    programmed: findCondition(conditions, 'Programmed')?.status ?? 'Unknown',
    state: stateOf(cause, { createdAt, now, isReported: conditions !== undefined }),
    ...(cause !== undefined && { cause }),
    warnings: (conditions ?? []).filter(({ type }) => WARNINGS.has(type)),
    certificates: certificatesIn(object),
    createdAt,
  };
}

/** Orders Routes by namespace and name. */
export function compareRoutes(a: RouteFacts, b: RouteFacts): number {
  return compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
}

/** The conditions of the newest generation; undefined if this gateway has not reported on it. */
function reportedConditions(
  { metadata, status }: StoredRoute,
  gatewayClass: string,
): readonly Condition[] | undefined {
  if (status?.conditions === undefined || status.gatewayClassName !== gatewayClass)
    return undefined;
  const { observedGeneration = 0 } = status;
  return observedGeneration < (metadata.generation ?? 0) ? undefined : status.conditions;
}

function notReported({ metadata: { generation = 0 }, status }: StoredRoute): Cause {
  const isNew = status?.observedGeneration === undefined;
  const what = isNew ? 'it' : `generation ${String(generation)}`;
  return { reason: 'NotReported', message: `The controller has not reported on ${what} yet.` };
}

function stateOf(
  cause: Cause | undefined,
  { createdAt, now, isReported }: { createdAt: number; now: number; isReported: boolean },
): RouteState {
  if (cause === undefined) return 'serving';
  // Nothing says since when a newer generation waits: the leader of the gateway has the problem then.
  if (!isReported) return now - createdAt > PATIENCE_MS ? 'problem' : 'pending';
  const { reason, since = 0 } = cause;
  return reason === 'Pending' && now - since <= PATIENCE_MS ? 'pending' : 'problem';
}

function kindOf(spec: Readonly<Record<string, unknown>>): RouteFacts['kind'] {
  const mcp = isRecord(spec['mcp']) ? spec['mcp'] : {};
  if (isRecord(mcp['server'])) return 'mcp';
  if (isRecord(mcp['client'])) return 'application';
  return spec['allowPublicUnauthenticatedAccess'] === true ? 'public' : 'web';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
