import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import { isOnAllowedDomain } from '../../outbound/allowed-domain.ts';
import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { ClientMetadata } from '../../records/client.ts';

/** The settings that list the domains allowed for clients. */
export type ClientDomains = Pick<CompiledSettings, 'allowedClientIdDomains'>;

/**
 * Refuses a `jwks_uri` on a domain that is not allowed. Attack: anyone may register a client, and
 * could make the gateway call any server. Keys by value are always accepted.
 */
export function checkKeysDomain(
  { jwksUri }: ClientMetadata,
  { allowedClientIdDomains }: ClientDomains,
): void {
  if (jwksUri === undefined) return;
  if (isOnAllowedDomain(jwksUri, allowedClientIdDomains)) return;
  throw new InvalidClientMetadataError(
    'jwks_uri is not on a domain that is allowed for clients; send jwks instead',
  );
}
