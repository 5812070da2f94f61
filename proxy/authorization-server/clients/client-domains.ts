import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import { matchesDomainPattern } from '../../../shared/snapshot/domain-pattern.ts';
import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { ClientMetadata } from '../../records/client.ts';

export type ClientDomains = Pick<CompiledSettings, 'allowedClientIdDomains'>;

/**
 * Refuses keys to be fetched from a domain that is not allowed: anyone may register a client, and
 * would otherwise have the gateway call any server they name. Keys by value are always welcome.
 */
export function checkKeysDomain(
  { jwksUri }: ClientMetadata,
  { allowedClientIdDomains }: ClientDomains,
): void {
  if (jwksUri === undefined) return;
  if (matchesDomainPattern(new URL(jwksUri).hostname, allowedClientIdDomains)) return;
  throw new InvalidClientMetadataError(
    'jwks_uri is not on a domain that is allowed for clients; send jwks instead',
  );
}
