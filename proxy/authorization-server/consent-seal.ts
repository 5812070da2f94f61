import { derivedToken, equalSecrets } from '../crypto/tokens.ts';

const SEAL = /^(\d{1,16})\.([\w-]{43})$/;

/**
 * Seals the time at which a browser was shown the consent page of a request, in milliseconds since the
 * epoch. Only the holder of the session cookie can make the seal: neither another site nor a script.
 */
export function sealConsentForm(cookie: string, requestId: string, shownAt: number): string {
  return `${String(shownAt)}.${derivedToken(cookie, `consent:${requestId}:${String(shownAt)}`)}`;
}

/** Returns the time that a seal has; null if the seal is for another browser or request, or forged. */
export function openConsentForm(cookie: string, requestId: string, seal: string): number | null {
  const [, shownAt] = SEAL.exec(seal) ?? [];
  if (shownAt === undefined) return null;
  return equalSecrets(seal, sealConsentForm(cookie, requestId, Number(shownAt)))
    ? Number(shownAt)
    : null;
}
