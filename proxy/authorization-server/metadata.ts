import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import { CLIENT_ASSERTION_ALGORITHMS } from './clients/client-assertion.ts';
import { TOKEN_ENDPOINT_AUTH_METHODS } from '../records/client.ts';
import { PATHS } from '../endpoints/paths.ts';

/**
 * Returns the authorization server metadata of an issuer, which is the origin of `from` and never taken
 * from a request.
 *
 * It lists no scopes: they are labels, and a client that finds a list requests all of it.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc8414#section-2 RFC 8414, section 2}
 */
export function authorizationServerMetadata(
  issuer: string,
  settings: CompiledSettings,
): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: issuer + PATHS.authorize,
    token_endpoint: issuer + PATHS.token,
    registration_endpoint: issuer + PATHS.register,
    revocation_endpoint: issuer + PATHS.revoke,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: TOKEN_ENDPOINT_AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: CLIENT_ASSERTION_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: TOKEN_ENDPOINT_AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: CLIENT_ASSERTION_ALGORITHMS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    // Without an allowed domain every URL would be refused, so clients have to register.
    ...(settings.allowedClientIdDomains.length > 0 && {
      client_id_metadata_document_supported: true,
    }),
  };
}

/**
 * Returns the same metadata for clients that look for an OpenID Connect document. MCP clients get no ID
 * tokens; the members about them are present because SDKs refuse a document without them.
 */
export function openIdConfiguration(
  issuer: string,
  settings: CompiledSettings,
): Readonly<Record<string, unknown>> {
  return {
    ...authorizationServerMetadata(issuer, settings),
    jwks_uri: issuer + PATHS.jwks,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
}
