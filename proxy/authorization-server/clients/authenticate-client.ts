import { equalSecrets, hashToken } from '../../crypto/tokens.ts';
import { AuthorizationPageError } from '../../errors/authorization-page-errors.ts';
import { InvalidClientError, TemporarilyUnavailableError } from '../../errors/oauth-errors.ts';
import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import {
  acceptClientAssertion,
  type BeforeVerifying,
  type ClientAssertionOptions,
} from './client-assertion.ts';
import { type ClientCredentials, readCredentials } from './client-credentials.ts';
import type { Client } from '../../records/client.ts';
import type { FindClient } from './find-client.ts';
import type { BeforeFetch } from './metadata-document.ts';
import { MetadataDocumentError } from './metadata-document-error.ts';

/** A request to the token or revocation endpoint. */
export interface ClientRequest {
  readonly issuer: string;
  /** The token endpoint of the same issuer: the other audience that client assertions may have. */
  readonly tokenEndpointUrl: string;
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
  readonly settings: CompiledSettings;
  /** Called before the metadata document of a client that is not yet authenticated is fetched. */
  readonly beforeFetch?: BeforeFetch;
  /** Called before the signature of an assertion is verified. */
  readonly beforeVerifying: BeforeVerifying;
}

/** Options of `authenticateClient`. */
export interface AuthenticateClientOptions extends ClientAssertionOptions {
  readonly findClient: FindClient;
}

/**
 * Authenticates the client of a request, by the method that the client is registered for.
 *
 * Throws `InvalidRequestError` if a request uses several methods, `InvalidClientError` if the proof is
 * missing or wrong, `TemporarilyUnavailableError` if the client's metadata document or keys cannot be
 * fetched at present, and `TooManyRequestsError` if the client's network caused too many fetches or sent too
 * many assertions.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749#section-2.3 RFC 6749, section 2.3}
 */
export async function authenticateClient(
  request: ClientRequest,
  options: AuthenticateClientOptions,
): Promise<Client> {
  const credentials = readCredentials(request);
  const client = await find(credentials.clientId, request, options);
  await check(client, credentials, { request, options });
  return client;
}

async function find(
  clientId: string,
  { issuer, settings, beforeFetch }: ClientRequest,
  { findClient }: AuthenticateClientOptions,
): Promise<Client> {
  const client = await findClient(issuer, clientId, settings, beforeFetch).catch(
    (cause: unknown) => {
      throw asTokenError(cause);
    },
  );
  if (client === null) throw new InvalidClientError('the client is not known');
  return client;
}

/** Converts an error for a page: these endpoints show none. An outage is not the client's fault. */
function asTokenError(cause: unknown): unknown {
  if (cause instanceof MetadataDocumentError && cause.problem === 'unavailable') {
    return new TemporarilyUnavailableError('the metadata document cannot be fetched', { cause });
  }
  if (cause instanceof AuthorizationPageError) {
    return new InvalidClientError('the client ID is not acceptable', { cause });
  }
  return cause;
}

async function check(
  client: Client,
  credentials: ClientCredentials,
  { request, options }: { request: ClientRequest; options: AuthenticateClientOptions },
): Promise<void> {
  const method = client.metadata.tokenEndpointAuthMethod;
  switch (credentials.kind) {
    case 'none':
      if (method !== 'none') throw new InvalidClientError('the client must authenticate');
      return;
    case 'secret':
      // Libraries mix up the two methods, and the proof is the same.
      if (method !== 'client_secret_basic' && method !== 'client_secret_post') throw wrongMethod();
      if (!hasSecret(client, credentials.secret)) {
        throw new InvalidClientError('the client secret is wrong');
      }
      return;
    case 'assertion':
      if (method !== 'private_key_jwt') throw wrongMethod();
      // Attack: anybody can register clients, and fill the store of used ids with their assertions. Without
      // an approval a client has nothing to redeem.
      if (client.isUnapproved === true) {
        throw new InvalidClientError('no user has approved the client yet');
      }
      await acceptClientAssertion(
        { ...request, client, assertion: credentials.assertion },
        options,
      );
  }
}

function hasSecret({ secretHash }: Client, secret: string): boolean {
  return secretHash !== undefined && equalSecrets(hashToken(secret), secretHash);
}

function wrongMethod(): InvalidClientError {
  return new InvalidClientError('the client is registered for another authentication method');
}
