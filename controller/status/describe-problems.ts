import type { Problem } from '../validate/problem.ts';

/** Longer texts are of no use in a terminal, and thousands of resources are watched by many. */
const MAX_LENGTH = 1024;
const MAX_FINDING_LENGTH = 300;
const ELLIPSIS = '…';

/** All problems, each with its place, as far as there is room. */
export function describeProblems(problems: readonly Problem[]): string {
  const fitting: string[] = [];
  let length = 0;
  for (const problem of problems) {
    const text = describe(problem);
    length += text.length;
    if (length > MAX_LENGTH) break;
    fitting.push(text);
  }
  const left = problems.length - fitting.length;
  return fitting.join('; ') + (left > 0 ? `; and ${String(left)} more` : '');
}

function describe({ path, message }: Problem): string {
  return clip(path === '' ? message : `${path}: ${message}`, MAX_FINDING_LENGTH);
}

/** The text, shortened when it is longer than that. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - ELLIPSIS.length).toWellFormed()}${ELLIPSIS}`;
}
