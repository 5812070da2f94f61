import type { ResourceProblem } from './problem.ts';

/** Sorts problems, so that their order does not depend on how they were found. */
export function sortProblems(problems: readonly ResourceProblem[]): readonly ResourceProblem[] {
  return [...problems].sort(
    (a, b) =>
      compare(a.resource, b.resource) || compare(a.path, b.path) || compare(a.message, b.message),
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
