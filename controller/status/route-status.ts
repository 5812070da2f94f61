import type { RouteVerdict } from '../compile/compilation.ts';
import { hostOfUrl } from '../compile/routes/read-prior.ts';
import type { RouteStatus } from '../kubernetes/stored-resources.ts';
import { findCondition } from './condition.ts';
import { summarizeVerdict } from './summarize-verdict.ts';
import type { PublicationState } from './programmed-state.ts';
import { resourceConditions } from './resource-conditions.ts';
import { keptSpec, servedSpec } from './served-spec.ts';

export interface RouteStatusInput extends PublicationState {
  readonly verdict: RouteVerdict;
  /** The class of this gateway. */
  readonly gatewayClass: string;
  /** The status it has; undefined when it has none. */
  readonly current: RouteStatus | undefined;
  readonly now: Date;
}

/**
 * The status that a Route should have. Equal input, equal status; and what it made of a status is
 * made of itself again, unless something else changes.
 *
 * `Programmed` stays true while no proxy is connected: those that there were serve on, and
 * GatewaySettings say that nobody is connected.
 */
export function routeStatus(input: RouteStatusInput): RouteStatus {
  const { verdict, current, now } = input;
  const summary = summarizeVerdict(verdict);
  const conditions = resourceConditions({
    summary,
    publication: input,
    current: current?.conditions,
    staysProgrammed: true,
    now,
  });
  const isProgrammed = findCondition(conditions, 'Programmed')?.status === 'True';
  const programmedGeneration = isProgrammed ? summary.generation : olderProgrammedGeneration(input);
  const served = servedSpec(summary) ?? keptSpec(verdict);
  const url = verdict.url === '' ? keptUrl(input) : verdict.url;
  return {
    gatewayClassName: input.gatewayClass,
    observedGeneration: summary.generation,
    conditions,
    ...(verdict.mcpRole !== '' && { mcpRole: verdict.mcpRole }),
    ...(url !== undefined && { url }),
    ...(programmedGeneration !== undefined && { programmedGeneration }),
    ...(verdict.served && { configHash: verdict.served.hash }),
    ...(served && { served }),
  };
}

/**
 * The URL that it had here, of a Route that waits for settings that let it serve: by its host another
 * leader knows whose that is.
 */
function keptUrl({ verdict, gatewayClass, current }: RouteStatusInput): string | undefined {
  if (current?.gatewayClassName !== gatewayClass) return undefined;
  const host = hostOfUrl(current.url);
  const isKept = host !== undefined && verdict.kept?.hosts.includes(host) === true;
  return isKept ? current.url : undefined;
}

/** Of a route whose newest generation is not programmed. */
function olderProgrammedGeneration(input: RouteStatusInput): number | undefined {
  const { verdict, rollout, obstacle, current } = input;
  if (verdict.served === undefined) return undefined;
  const isKnown = obstacle === undefined && rollout?.kind === 'programmed';
  return isKnown ? verdict.served.generation : current?.programmedGeneration;
}
