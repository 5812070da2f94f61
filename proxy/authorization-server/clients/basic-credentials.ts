const BASIC = /^basic +([A-Za-z0-9+/]+=*) *$/i;

/**
 * Reads client credentials from an `Authorization` header; null if it does not have them.
 *
 * Both halves are form-urlencoded before they are joined (RFC 6749, section 2.3.1).
 */
export function parseBasicCredentials(
  authorization: string,
): { readonly clientId: string; readonly secret: string } | null {
  const [, encoded] = BASIC.exec(authorization) ?? [];
  if (encoded === undefined) return null;
  const [, clientId, secret] = /^([^:]*):(.*)$/s.exec(decodeBase64(encoded)) ?? [];
  if (clientId === undefined || secret === undefined) return null;
  try {
    return { clientId: decodeForm(clientId), secret: decodeForm(secret) };
  } catch {
    // A stray percent sign: the client did not encode its credentials, so they are ambiguous.
    return null;
  }
}

function decodeBase64(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString('utf8');
}

function decodeForm(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}
