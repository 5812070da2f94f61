import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';

/** How long a registered client that is not used is remembered. */
export const UNUSED_CLIENT_SECONDS = 30 * 24 * 60 * 60;

/** The same, but never shorter than the client's refresh tokens live. */
export function unusedClientSeconds({ tokens }: Pick<CompiledSettings, 'tokens'>): number {
  return Math.max(UNUSED_CLIENT_SECONDS, tokens.refreshTokenSeconds);
}
