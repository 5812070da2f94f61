import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { TokenRefusedError } from './token-refused-error.ts';

/** For whom an access token must be. */
export interface TokenBinding {
  /** Absent if nobody signs in at the provider. */
  readonly clientId: string | undefined;
  /** The setting `idpAccessTokenAllowedAudiences`; absent if there is no list. */
  readonly allowedAudiences: readonly string[] | undefined;
}

/**
 * Refuses an access token that is for somebody else. Attack: an application that users trust with little
 * would call this gateway with the tokens that it got.
 *
 * With a list, one of the token's audiences must be in it. Without one, the token must be of the gateway's own
 * client at the provider.
 */
export function refuseForeignToken(
  claims: SourceClaims,
  { clientId, allowedAudiences }: TokenBinding,
): void {
  if (allowedAudiences !== undefined) {
    requireAudience(claims, allowedAudiences);
    return;
  }
  const { azp, client_id: issuedTo } = claims;
  const named = [...audiencesOf(claims), azp, issuedTo].filter((each) => each !== undefined);
  if (named.length === 0) throw new TokenRefusedError('unbound-token');
  if (clientId === undefined || !named.includes(clientId)) {
    throw new TokenRefusedError('other-client');
  }
}

/** Refuses a token that is for none of some audiences. */
export function requireAudience(claims: SourceClaims, accepted: readonly string[]): void {
  const audiences = audiencesOf(claims);
  if (audiences.length === 0) throw new TokenRefusedError('no-audience');
  if (!audiences.some((audience) => accepted.includes(audience))) {
    throw new TokenRefusedError('wrong-audience');
  }
}

/** Returns the audiences of a token, which has a text or a list of texts (RFC 7519, section 4.1.3). */
export function audiencesOf({ aud }: SourceClaims): readonly string[] {
  if (aud === undefined) return [];
  if (typeof aud === 'string') return [aud];
  if (Array.isArray(aud) && aud.every((each) => typeof each === 'string')) return aud;
  throw new TokenRefusedError('incomplete-claims');
}

/** Refuses a token that is valid only with a proof of possession (RFC 7800; RFC 8705; RFC 9449). */
export function refuseSenderConstrained(claims: SourceClaims): void {
  if (Object.hasOwn(claims, 'cnf')) throw new TokenRefusedError('sender-constrained');
}
