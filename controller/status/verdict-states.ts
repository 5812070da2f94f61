import type { Served } from '../compile/compilation.ts';
import type { Problem } from '../validate/problem.ts';
import type { ConditionState } from './condition.ts';
import { describeProblems } from './describe-problems.ts';

/** What the compiler decided on the newest generation of a resource. */
export interface VerdictSummary {
  readonly generation: number;
  readonly isAccepted: boolean;
  readonly problems: readonly Problem[];
  readonly served: Served | undefined;
}

/** Reasons that are about what the resource refers to; all others are about itself. */
const REFERENCE_REASONS: ReadonlySet<string> = new Set([
  'BackendNotFound',
  'RefNotPermitted',
  'SecretNotFound',
  'InvalidSecret',
  'InvalidKind',
  'IdentityProviderNotFound',
]);

/**
 * Condition `Accepted`.
 *
 * As in the Gateway API it is about the resource itself: one whose only problem is that it refers to
 * what is not there, or may not be used, is accepted, and `ResolvedRefs` is false. `Programmed` tells
 * whether it serves.
 */
export function acceptedState({ isAccepted, problems }: VerdictSummary): ConditionState {
  const own = problems.filter((problem) => !isAboutReference(problem));
  const [first] = own;
  if (isAccepted || first === undefined) {
    const message = isAccepted
      ? 'The spec is valid.'
      : 'The spec is valid, and what it refers to cannot be used: see ResolvedRefs.';
    return { status: 'True', reason: 'Accepted', message };
  }
  return { status: 'False', reason: reasonOf(first), message: describeProblems(own) };
}

/**
 * Condition `ResolvedRefs`: unknown for a resource that is refused for something else, because its
 * references may not have been looked at.
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
  // Of what is accepted, such as a Service with more endpoints than are served.
  const message =
    problems.length === 0
      ? 'Everything it refers to exists and may be used.'
      : describeProblems(problems);
  return { status: 'True', reason: 'ResolvedRefs', message };
}

/** Condition `PartiallyInvalid`, which is there only while it is true. */
export function partiallyInvalidState(summary: VerdictSummary): ConditionState | undefined {
  const { isAccepted, served } = summary;
  if (isAccepted || served === undefined) return undefined;
  return { status: 'True', reason: 'ServedGeneration', message: describeServed(summary) };
}

/** What serves instead of a generation that does not. */
export function describeServed(summary: VerdictSummary): string {
  const { generation, served, problems } = summary;
  if (served === undefined) return `Nothing of it serves: ${describeProblems(problems)}.`;
  const which =
    served.generation === generation
      ? 'it serves as it did before'
      : `generation ${String(served.generation)} serves`;
  return `${refusalOf(summary)}: ${which}.`;
}

/** Why a generation does not serve, whatever does. */
export function describeRefusal(summary: VerdictSummary): string {
  return `${refusalOf(summary)}: ${describeProblems(summary.problems)}.`;
}

/** In agreement with `Accepted`, which is true while nothing but a reference is at problem. */
function refusalOf({ generation, problems }: VerdictSummary): string {
  const refusal = problems.every(isAboutReference) ? 'cannot be used now' : 'is not accepted';
  return `Generation ${String(generation)} ${refusal}`;
}

function isAboutReference({ reason }: Problem): boolean {
  return REFERENCE_REASONS.has(reason);
}

function reasonOf({ reason }: Problem): string {
  return reason === 'InvalidManifest' ? 'InvalidSpec' : reason;
}
