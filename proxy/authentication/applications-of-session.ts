import type { Session } from '../records/session.ts';
import type { RevokedTokenStore } from '../store/grant-store.ts';
import { secondsOfTokensOf } from './application-token-times.ts';

/**
 * Ends the external tokens that backends of applications got in a session, and those that they could still get.
 * The session itself and the tokens of MCP clients continue.
 */
export async function endApplicationTokens(
  session: Session,
  revokedTokens: RevokedTokenStore,
  now: number,
): Promise<void> {
  const seconds = secondsOfTokensOf(session, now);
  await revokedTokens.revoke(idOf(session.id), seconds, session.signInId);
}

/** Returns whether the tokens of a session were ended by `endApplicationTokens`. */
export function haveApplicationTokensEnded(
  sessionId: string,
  revokedTokens: RevokedTokenStore,
): Promise<boolean> {
  return revokedTokens.isRevoked(idOf(sessionId));
}

/** Ids of single tokens have no colon. */
function idOf(sessionId: string): string {
  return `applications-of:${sessionId}`;
}
