import { InvalidRedirectUriError } from '../../errors/oauth-errors.ts';
import type { JsonObject } from '../../json/json-object.ts';
import { strings } from './metadata-members.ts';
import { judgeRedirectUri } from './redirect-uri.ts';

const MAX_REDIRECT_URIS = 20;

/** Reads the redirect URIs that a client registers; throws `InvalidRedirectUriError`. */
export function parseRedirectUris(members: JsonObject): readonly string[] {
  const uris = strings(members, 'redirect_uris');
  if (uris === undefined || uris.length === 0) {
    throw new InvalidRedirectUriError('redirect_uris is missing');
  }
  if (uris.length > MAX_REDIRECT_URIS) {
    throw new InvalidRedirectUriError(
      `redirect_uris has more than ${String(MAX_REDIRECT_URIS)} members`,
    );
  }
  // Cursor lists the schemes of all its siblings, and one unknown application must not fail the
  // registration: by RFC 7591, section 3.2.1, the server responds with what it registered.
  const accepted = uris.filter((uri, index) => isAccepted(uri, index));
  if (accepted.length > 0) return accepted;
  throw new InvalidRedirectUriError(
    'every redirect URI has a scheme that is neither named after a domain nor of a known application',
  );
}

function isAccepted(uri: string, index: number): boolean {
  const verdict = judgeRedirectUri(uri);
  switch (verdict.kind) {
    case 'accepted':
      return true;
    case 'unknown-application':
      return false;
    case 'refused':
      throw new InvalidRedirectUriError(`redirect_uris[${String(index)}] ${verdict.problem}`);
  }
}
