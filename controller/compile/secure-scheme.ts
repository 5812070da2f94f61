import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';

interface Endpoint {
  /** `https`, with or without a colon. */
  readonly scheme: string;
  readonly host: string;
}

/**
 * Why cookies, codes and tokens must not travel to an endpoint; undefined when they may. They travel
 * in clear to this machine's own names only, and only for development.
 */
export function schemeProblem(
  { scheme, host }: Endpoint,
  devAllowLoopback: boolean,
): string | undefined {
  if (scheme.startsWith('https')) return undefined;
  if (!isLoopbackHost(host.replace(/^\*\./, ''))) return 'must be https';
  return devAllowLoopback ? undefined : 'must be https, unless --dev-allow-loopback is set';
}
