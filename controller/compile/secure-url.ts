import { made, invalid, type CompileResult } from './compile-result.ts';
import { schemeProblem } from './secure-scheme.ts';

/** Checks a URL that secrets are sent to, or that a browser is sent to with them, and keeps it as written. */
export function compileSecureUrl(
  written: string,
  path: string,
  devAllowLoopback: boolean,
): CompileResult<string> {
  const problem = urlProblem(written, devAllowLoopback);
  return problem === undefined ? made(written) : invalid(path, 'UnsupportedValue', problem);
}

function urlProblem(written: string, devAllowLoopback: boolean): string | undefined {
  const url = URL.parse(written);
  if (url?.username !== '' || url.password !== '') return 'must be a URL without a user';
  return schemeProblem({ scheme: url.protocol, host: url.hostname }, devAllowLoopback);
}
