import { InvalidClientMetadataError, InvalidScopeError } from '../../errors/oauth-errors.ts';
import type { JsonObject } from '../../json/json-object.ts';
import { parseScope } from '../scope.ts';
import type { ClientMetadata, TokenEndpointAuthMethod } from '../../records/client.ts';
import { strings, text } from './metadata-members.ts';
import { parseClientKeySet } from './parse-client-key-set.ts';
import { parseRedirectUris } from './parse-redirect-uris.ts';
import { printableText } from './printable-text.ts';

const MAX_NAME_LENGTH = 200;
const MAX_URL_LENGTH = 2048;

/** Which client authentication methods are accepted, and which one is the default. */
export interface AuthMethodRule {
  readonly default: TokenEndpointAuthMethod;
  readonly supported: readonly TokenEndpointAuthMethod[];
}

/**
 * Reads the metadata of a client. Unknown members are ignored.
 *
 * Throws `InvalidRedirectUriError` or `InvalidClientMetadataError`.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7591#section-2 RFC 7591, section 2}
 */
export function parseClientMetadata(
  members: JsonObject,
  authMethods: AuthMethodRule,
): ClientMetadata {
  checkResponseTypes(members);
  const tokenEndpointAuthMethod = parseAuthMethod(members, authMethods);
  return {
    redirectUris: parseRedirectUris(members),
    tokenEndpointAuthMethod,
    grantTypes: parseGrantTypes(members),
    ...parseDescription(members),
    ...parseApplicationType(members),
    ...parseRegisteredScope(members),
    ...parseKeys(members, tokenEndpointAuthMethod),
  };
}

/** The grant types that a client can be registered for. */
const GRANT_TYPES = ['authorization_code', 'refresh_token'];

function parseGrantTypes(members: JsonObject): readonly string[] {
  const requested = strings(members, 'grant_types') ?? ['authorization_code'];
  if (!requested.includes('authorization_code')) {
    throw new InvalidClientMetadataError('grant_types must include authorization_code');
  }
  return GRANT_TYPES.filter((grantType) => requested.includes(grantType));
}

function checkResponseTypes(members: JsonObject): void {
  const requested = strings(members, 'response_types') ?? ['code'];
  if (!requested.includes('code')) {
    throw new InvalidClientMetadataError('response_types must include code');
  }
}

function parseAuthMethod(members: JsonObject, rule: AuthMethodRule): TokenEndpointAuthMethod {
  const requested = text(members, 'token_endpoint_auth_method') ?? rule.default;
  const method = rule.supported.find((supported) => supported === requested);
  if (method !== undefined) return method;
  throw new InvalidClientMetadataError('token_endpoint_auth_method is not supported');
}

/** An invalid link is dropped; it does not fail the registration. */
function parseDescription(members: JsonObject): Pick<ClientMetadata, 'clientName' | 'clientUri'> {
  const clientName = printableText(text(members, 'client_name') ?? '');
  if (clientName.length > MAX_NAME_LENGTH) {
    throw new InvalidClientMetadataError(
      `client_name is longer than ${String(MAX_NAME_LENGTH)} characters`,
    );
  }
  const clientUri = text(members, 'client_uri');
  return {
    ...(clientName === '' ? {} : { clientName }),
    ...(clientUri !== undefined && isWebUrl(clientUri) ? { clientUri } : {}),
  };
}

function isWebUrl(candidate: string): boolean {
  return (
    /^https?:\/\/[\x21-\x7e]+$/.test(candidate) &&
    candidate.length <= MAX_URL_LENGTH &&
    URL.canParse(candidate)
  );
}

function parseApplicationType(members: JsonObject): Pick<ClientMetadata, 'applicationType'> {
  const applicationType = text(members, 'application_type');
  if (applicationType === undefined) return {};
  if (applicationType === 'native' || applicationType === 'web') return { applicationType };
  throw new InvalidClientMetadataError('application_type must be native or web');
}

function parseRegisteredScope(members: JsonObject): Pick<ClientMetadata, 'scope'> {
  const scope = text(members, 'scope');
  if (scope === undefined || scope === '') return {};
  try {
    return { scope: parseScope(scope).join(' ') };
  } catch (error) {
    if (!(error instanceof InvalidScopeError)) throw error;
    throw new InvalidClientMetadataError('scope is malformed', { cause: error });
  }
}

/** Keys are kept only for `private_key_jwt`, which alone uses them. */
function parseKeys(
  members: JsonObject,
  method: TokenEndpointAuthMethod,
): Pick<ClientMetadata, 'jwks' | 'jwksUri'> {
  const jwksUri = text(members, 'jwks_uri');
  const jwks = members['jwks'] ?? undefined;
  // RFC 7591, section 2: jwks_uri and jwks MUST NOT both be present.
  if (jwks !== undefined && jwksUri !== undefined) {
    throw new InvalidClientMetadataError('jwks and jwks_uri must not both be present');
  }
  if (method !== 'private_key_jwt') return {};
  if (jwks !== undefined) return { jwks: parseClientKeySet(jwks) };
  if (jwksUri === undefined) {
    throw new InvalidClientMetadataError('private_key_jwt needs jwks or jwks_uri');
  }
  if (!isWebUrl(jwksUri) || !jwksUri.startsWith('https://')) {
    throw new InvalidClientMetadataError('jwks_uri must be an https URL');
  }
  return { jwksUri };
}
