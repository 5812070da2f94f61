import { decodeJwt, decodeProtectedHeader } from 'jose';

import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';

/** What a JWT says. Nothing of it is verified: it may select and refuse, and never accept. */
export interface UnverifiedJwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: SourceClaims;
}

/** The compact form of a JWT that is signed (RFC 7515, section 7.1). */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Reads a text; null if it does not have the form of a signed JWT. */
export function readUnverifiedJwt(token: string): UnverifiedJwt | null {
  if (!COMPACT_FORM.test(token)) return null;
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return null;
  }
}

/**
 * Returns whether a text begins with the header of a signed JWT, whatever follows. Encrypted ones (RFC 7516,
 * section 4.1.2) have `enc`.
 */
export function beginsAsSignedJwt(text: string): boolean {
  const [header = '', ...rest] = text.split('.', 2);
  if (rest.length === 0) return false;
  try {
    const { enc } = decodeProtectedHeader({ protected: header });
    return enc === undefined;
  } catch {
    return false;
  }
}
