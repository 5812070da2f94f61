import type { Served } from '../compile/compilation.ts';
import type { Problem } from '../validate/problem.ts';
import type { ConditionState } from './condition.ts';
import { describeProblems } from './describe-problems.ts';

/** The part of a verdict that conditions are built from. */
export interface VerdictSummary {
  readonly generation: number;
  readonly isAccepted: boolean;
  readonly problems: readonly Problem[];
  readonly served: Served | undefined;
  /** Paths of an MCP server that are served without inspection. */
  readonly uninspectedPaths: readonly string[];
  /** The consent pages of an MCP route, or its callback, have the origin of web routes. */
  readonly isConsentExposed: boolean;
}

/** Reasons about the references of a resource; all other reasons are about the resource itself. */
const REFERENCE_REASONS: ReadonlySet<string> = new Set([
  'BackendNotFound',
  'RefNotPermitted',
  'SecretNotFound',
  'SecretNotReferable',
  'InvalidSecret',
  'CertificateNotForHost',
  'ConfigMapNotFound',
  'InvalidConfigMap',
  'InvalidKind',
  'IdentityProviderNotFound',
  'ClusterIssuerNotUsable',
  'TracingNotUsable',
]);

/**
 * The state of condition `Accepted`.
 *
 * As in the Gateway API it is about the resource itself: if its only problem is a reference, it is
 * accepted, and `ResolvedRefs` is false. `Programmed` reports whether it is served.
 */
export function acceptedState({ isAccepted, problems }: VerdictSummary): ConditionState {
  const own = problems.filter((problem) => !isAboutReference(problem));
  const [first] = own;
  if (isAccepted || first === undefined) {
    const message = isAccepted
      ? 'The spec is valid.'
      : 'The spec is valid, but a resource that it refers to cannot be used: see ResolvedRefs.';
    return { status: 'True', reason: 'Accepted', message };
  }
  return { status: 'False', reason: reasonOf(first), message: describeProblems(own) };
}

/**
 * The state of condition `ResolvedRefs`. It is unknown for a resource with another problem, because
 * its references may not have been resolved.
 */
export function resolvedRefsState({ isAccepted, problems }: VerdictSummary): ConditionState {
  const references = problems.filter(isAboutReference);
  const [first] = references;
  if (first !== undefined) {
    return { status: 'False', reason: reasonOf(first), message: describeProblems(references) };
  }
  if (!isAccepted) {
    const message = 'References are resolved once the spec is accepted.';
    return { status: 'Unknown', reason: 'Pending', message };
  }
  // An accepted resource may have problems, such as a Service with too many targets to serve all.
  const message =
    problems.length === 0
      ? 'Every resource that it refers to exists and may be used.'
      : describeProblems(problems);
  return { status: 'True', reason: 'ResolvedRefs', message };
}

/** The state of condition `PartiallyInvalid`, which is present only while it is true. */
export function partiallyInvalidState(summary: VerdictSummary): ConditionState | undefined {
  const { isAccepted, served } = summary;
  if (isAccepted || served === undefined) return undefined;
  return { status: 'True', reason: 'ServedGeneration', message: describeServed(summary) };
}

/** The state of condition `PartiallyInspected`, which is present only while it is true. */
export function partiallyInspectedState({
  uninspectedPaths,
}: VerdictSummary): ConditionState | undefined {
  if (uninspectedPaths.length === 0) return undefined;
  const message = `Requests to ${uninspectedPaths.join(', ')} are not inspected: whoever the policy permits may send anything there, and criteria about MCP messages are false for it.`;
  return { status: 'True', reason: 'UninspectedSubPaths', message };
}

/** The state of condition `ConsentExposed`, which is present only while it is true. */
export function consentExposedState({
  isConsentExposed,
}: VerdictSummary): ConditionState | undefined {
  if (!isConsentExposed) return undefined;
  const message =
    'Web routes have the same host, so their scripts have the origin of the consent page, or of the callback of users who connect. Use a host of its own. If no user connects there, authenticateUrl in the GatewaySettings is enough.';
  return { status: 'True', reason: 'WebRoutesOnHost', message };
}

/** Describes which generation is served instead of one that cannot be served. */
export function describeServed(summary: VerdictSummary): string {
  const { generation, served, problems } = summary;
  if (served === undefined) return `No generation of it is served: ${describeProblems(problems)}.`;
  const which =
    served.generation === generation
      ? 'its last good state keeps serving'
      : `generation ${String(served.generation)} keeps serving`;
  return `${nonServingOf(summary)}; ${which}.`;
}

/** Describes why a generation is not served. */
export function describeNotServed(summary: VerdictSummary): string {
  return `${nonServingOf(summary)}: ${describeProblems(summary.problems)}.`;
}

/** Agrees with `Accepted`, which is true while only references have problems. */
function nonServingOf({ generation, problems }: VerdictSummary): string {
  const why = problems.every(isAboutReference) ? 'cannot be used now' : 'is not accepted';
  return `Generation ${String(generation)} ${why}`;
}

function isAboutReference({ reason }: Problem): boolean {
  return REFERENCE_REASONS.has(reason);
}

function reasonOf({ reason }: Problem): string {
  return reason === 'InvalidManifest' ? 'InvalidSpec' : reason;
}
