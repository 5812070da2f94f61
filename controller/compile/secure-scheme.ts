import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';

interface SchemeAndHost {
  /** `https`, with or without a colon. */
  readonly scheme: string;
  readonly host: string;
}

/**
 * Returns why cookies, codes and tokens must not be sent to an address; undefined if they may be.
 * Cleartext is accepted only for loopback names, and only in development.
 */
export function schemeProblem(
  { scheme, host }: SchemeAndHost,
  devAllowLoopback: boolean,
): string | undefined {
  if (scheme.startsWith('https')) return undefined;
  if (!isLoopbackHost(host.replace(/^\*\./, ''))) return 'must be https';
  return devAllowLoopback ? undefined : 'must be https, unless --dev-allow-loopback is set';
}
