import { compareText } from '../../shared/runtime/compare-text.ts';
import type { ResourceProblem } from './problem.ts';

/** Sorts problems, so that their order does not depend on how they were found. */
export function sortProblems(problems: readonly ResourceProblem[]): readonly ResourceProblem[] {
  return [...problems].sort(
    (a, b) =>
      compareText(a.resource, b.resource) ||
      compareText(a.path, b.path) ||
      compareText(a.message, b.message),
  );
}
