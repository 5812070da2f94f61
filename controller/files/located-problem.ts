import { compareText } from '../../shared/runtime/compare-text.ts';
import type { ResourceProblem } from '../validate/problem.ts';

/** A problem with its place in the files. */
export interface LocatedProblem extends ResourceProblem {
  /** A file, or `environment`. */
  readonly file: string;
  /** The number of the document in the file, from 1. */
  readonly document?: number;
  readonly line?: number;
}

/** The place of problems with environment variables. */
export const ENVIRONMENT_PLACE = 'environment';

/** One line: `file.yaml:12 (document 2) Route default/x: spec.from: is required [InvalidSpec]`. */
export function formatProblem(problem: LocatedProblem): string {
  const { file, document, line, resource, path, reason, message } = problem;
  const place = line === undefined ? file : `${file}:${String(line)}`;
  const number = document === undefined ? '' : ` (document ${String(document)})`;
  const what = [resource, path, message].filter((part) => part !== '').join(': ');
  return `${place}${number} ${what} [${reason}]`;
}

/** Sorts problems by file and line, and removes duplicates. */
export function sortLocated(problems: readonly LocatedProblem[]): readonly LocatedProblem[] {
  const byText = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...byText.values()].sort(
    (a, b) =>
      compareText(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      compareText(formatProblem(a), formatProblem(b)),
  );
}
