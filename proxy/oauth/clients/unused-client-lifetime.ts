import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';

/**
 * How long a registered client is remembered from its last use: what the settings say, but never
 * shorter than the refresh token lives that it may just have been given.
 */
export function unusedClientSeconds(
  settings: Pick<CompiledSettings, 'tokens' | 'unusedClientSeconds'>,
): number {
  return Math.max(settings.unusedClientSeconds, settings.tokens.refreshTokenSeconds);
}
