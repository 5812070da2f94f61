import type { Problem, ProblemReason } from '../validate/problem.ts';

/** More of one resource are of no help to anybody. */
const MAX_FINDINGS = 20;

/** A problem of the resource at hand. */
export type Finding = Omit<Problem, 'resource'>;

/** What a pass made of its input, or everything that is wrong with it. */
export type Outcome<T> =
  | { readonly kind: 'made'; readonly value: T }
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] };

/** A pass succeeded. */
export function made<T>(value: T): Outcome<T> {
  return { kind: 'made', value };
}

/** A pass found one thing wrong, at `path` in the resource. */
export function refused(path: string, reason: ProblemReason, message: string): Outcome<never> {
  return { kind: 'refused', findings: [{ path, reason, message }] };
}

/** Goes on with what was made. */
export function andThen<T, U>(outcome: Outcome<T>, next: (value: T) => Outcome<U>): Outcome<U> {
  return outcome.kind === 'made' ? next(outcome.value) : outcome;
}

/** All of a list, or the findings of all. */
export function all<T>(outcomes: readonly Outcome<T>[]): Outcome<readonly T[]> {
  const findings = findingsOf(outcomes);
  if (findings.length > 0) return { kind: 'refused', findings };
  return made(outcomes.flatMap((outcome) => (outcome.kind === 'made' ? [outcome.value] : [])));
}

/** All members of an object, or the findings of all. */
export function combine<T extends object>(parts: {
  readonly [Name in keyof T]: Outcome<T[Name]>;
}): Outcome<T> {
  const outcomes = Object.entries<Outcome<unknown>>(parts);
  const findings = findingsOf(outcomes.map(([, outcome]) => outcome));
  if (findings.length > 0) return { kind: 'refused', findings };
  const members = outcomes.map(([name, outcome]) => [
    name,
    outcome.kind === 'made' ? outcome.value : undefined,
  ]);
  // Every part has been made, so that each member is what its outcome held.
  return made(Object.fromEntries(members) as T);
}

function findingsOf(outcomes: readonly Outcome<unknown>[]): readonly Finding[] {
  const findings = outcomes.flatMap((one) => (one.kind === 'refused' ? one.findings : []));
  return findings.slice(0, MAX_FINDINGS);
}
