import type { Problem, ProblemReason } from '../validate/problem.ts';

/** The most problems that are reported of one resource. */
const MAX_PROBLEMS = 20;

/** The value that a step of the compiler made, or everything wrong with the input of the step. */
export type CompileResult<T> =
  | { readonly kind: 'made'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

/** The result of a step that succeeded. */
export function made<T>(value: T): CompileResult<T> {
  return { kind: 'made', value };
}

/** The result of a step that found one problem, at `path` in the resource. */
export function invalid(
  path: string,
  reason: ProblemReason,
  message: string,
): CompileResult<never> {
  return { kind: 'invalid', problems: [{ path, reason, message }] };
}

/** Continues with the value that was made; problems are passed on. */
export function andThen<T, U>(
  result: CompileResult<T>,
  next: (value: T) => CompileResult<U>,
): CompileResult<U> {
  return result.kind === 'made' ? next(result.value) : result;
}

/** All values of a list, or all their problems. */
export function all<T>(results: readonly CompileResult<T>[]): CompileResult<readonly T[]> {
  const problems = problemsOf(results);
  if (problems.length > 0) return { kind: 'invalid', problems };
  return made(results.flatMap((result) => (result.kind === 'made' ? [result.value] : [])));
}

/** An object of all values, or all their problems. */
export function combine<T extends object>(members: {
  readonly [Name in keyof T]: CompileResult<T[Name]>;
}): CompileResult<T> {
  const results = Object.entries<CompileResult<unknown>>(members);
  const problems = problemsOf(results.map(([, result]) => result));
  if (problems.length > 0) return { kind: 'invalid', problems };
  const values = results.map(([name, result]) => [
    name,
    result.kind === 'made' ? result.value : undefined,
  ]);
  // Every member was made, so that each has its value.
  return made(Object.fromEntries(values) as T);
}

function problemsOf(results: readonly CompileResult<unknown>[]): readonly Problem[] {
  const problems = results.flatMap((one) => (one.kind === 'invalid' ? one.problems : []));
  return problems.slice(0, MAX_PROBLEMS);
}
