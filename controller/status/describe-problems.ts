import { clip } from '../../shared/runtime/clip.ts';
import type { Problem } from '../validate/problem.ts';

/** A longer text does not help in a terminal, and every watcher of the resource receives it. */
const MAX_LENGTH = 1024;
const MAX_PROBLEM_LENGTH = 300;

/** Lists problems, each with its place, up to the maximum length. */
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
  return clip(path === '' ? message : `${path}: ${message}`, MAX_PROBLEM_LENGTH);
}
