import type { RouteVerdict } from '../compile/compilation.ts';
import { hostOfUrl } from '../compile/routes/read-prior.ts';
import type { RouteStatus } from '../kubernetes/stored-resources.ts';
import { certificatesState, certificateStatuses } from './certificates-state.ts';
import { findCondition } from './condition.ts';
import { summarizeVerdict } from './summarize-verdict.ts';
import type { PublicationState } from './programmed-state.ts';
import { resourceConditions } from './resource-conditions.ts';
import { waitingOf, lastGoodOf } from './last-good.ts';
import { upstreamAuthState, type UpstreamAuthKnowledge } from './upstream-auth-state.ts';

/** Input of `routeStatus`. */
export interface RouteStatusInput extends PublicationState {
  readonly verdict: RouteVerdict;
  /** The class of this gateway. */
  readonly gatewayClass: string;
  readonly upstreamAuth: UpstreamAuthKnowledge;
  /** The current status; undefined if there is none. */
  readonly current: RouteStatus | undefined;
  readonly now: Date;
}

/**
 * Builds the status of a Route. Equal input gives an equal status, and the result as `current` gives the
 * same status again.
 *
 * `Programmed` stays true while no proxy is connected: disconnected proxies keep serving, and the
 * status of the GatewaySettings reports that none is connected.
 */
export function routeStatus(input: RouteStatusInput): RouteStatus {
  const { verdict, current, now } = input;
  const summary = summarizeVerdict(verdict);
  const conditions = resourceConditions({
    summary,
    publication: input,
    upstreamAuth: upstreamAuthState(verdict, input.upstreamAuth, current?.conditions),
    certificates: certificatesState(verdict.certificates, now),
    current: current?.conditions,
    staysProgrammed: true,
    now,
  });
  const isProgrammed = findCondition(conditions, 'Programmed')?.status === 'True';
  const programmedGeneration = isProgrammed ? summary.generation : olderProgrammedGeneration(input);
  const served = lastGoodOf(summary) ?? waitingOf(verdict);
  const certificates = certificateStatuses(verdict.certificates);
  const url = verdict.url === '' ? waitingUrl(input) : verdict.url;
  return {
    gatewayClassName: input.gatewayClass,
    observedGeneration: summary.generation,
    conditions,
    ...(verdict.mcpRole !== '' && { mcpRole: verdict.mcpRole }),
    ...(url !== undefined && { url }),
    ...(programmedGeneration !== undefined && { programmedGeneration }),
    ...(verdict.served && { configHash: verdict.served.hash }),
    ...(certificates.length > 0 && { certificates }),
    ...(served && { served }),
  };
}

/**
 * Returns the URL that a Route keeps while it waits for the settings, so that the next leader knows the
 * owner of its host.
 */
function waitingUrl({ verdict, gatewayClass, current }: RouteStatusInput): string | undefined {
  if (current?.gatewayClassName !== gatewayClass) return undefined;
  const host = hostOfUrl(current.url);
  const isKept = host !== undefined && verdict.waiting?.hosts.includes(host) === true;
  return isKept ? current.url : undefined;
}

/** Returns the generation that proxies serve while the newest generation is not programmed. */
function olderProgrammedGeneration(input: RouteStatusInput): number | undefined {
  const { verdict, rollout, obstacle, current } = input;
  if (verdict.served === undefined) return undefined;
  const isKnown = obstacle === undefined && rollout?.kind === 'programmed';
  return isKnown ? verdict.served.generation : current?.programmedGeneration;
}
