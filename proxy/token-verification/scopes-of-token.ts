import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';

/** Returns the scopes of an access token: a text (RFC 9068, section 2.2.3) or, at some providers, a list `scp`. */
export function scopesOfToken({ scope, scp }: SourceClaims): readonly unknown[] {
  return [scope, scp].flatMap((each) => (typeof each === 'string' ? each.split(' ') : each));
}
