import type { Route } from '../../crds/types.ts';
import type { PathMatch } from '../../shared/snapshot/snapshot.ts';
import { pathProblem, reservedPathProblem } from '../../shared/paths/path-problem.ts';
import { regexProblem } from '../../shared/paths/path-expression.ts';
import { made, invalid, type CompileResult } from './compile-result.ts';
import { withoutFinalSlash } from '../../shared/paths/without-final-slash.ts';

/** Compiles `prefix`, `path` or `regex`; without any of them a route serves every path. */
export function compilePathMatch(spec: Route['spec']): CompileResult<PathMatch> {
  const { prefix, path, regex } = spec;
  if (regex !== undefined) return compileRegex(regex);
  if (path !== undefined) return compileExact(path);
  return compilePrefix(prefix ?? '/');
}

function compileRegex(value: string): CompileResult<PathMatch> {
  const problem = regexProblem(value);
  if (problem !== undefined) return invalid('spec.regex', 'InvalidRegex', problem);
  return made({ kind: 'regex', value });
}

function compileExact(value: string): CompileResult<PathMatch> {
  const problem = pathProblem(value) ?? reservedPathProblem(value);
  if (problem !== undefined) return invalid('spec.path', 'InvalidSpec', problem);
  return made({ kind: 'exact', value });
}

function compilePrefix(prefix: string): CompileResult<PathMatch> {
  const problem = pathProblem(prefix) ?? reservedPathProblem(prefix);
  if (problem !== undefined) return invalid('spec.prefix', 'InvalidSpec', problem);
  return made({ kind: 'prefix', value: withoutFinalSlash(prefix) });
}
