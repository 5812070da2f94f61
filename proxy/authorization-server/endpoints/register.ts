import { randomUUID } from 'node:crypto';

import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { InvalidClientMetadataError, InvalidRequestError } from '../../errors/oauth-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { limitNetwork } from '../../endpoints/limit-rate.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { readBody } from '../../http/read-body.ts';
import { networksOf } from '../../http/network-of.ts';
import { json } from '../../http/responses.ts';
import type { JsonObject } from '../../json/json-object.ts';
import type { RegisteredClient } from '../../records/registered-client.ts';
import type { Stores } from '../../store/stores.ts';
import type { AuditLog } from '../../telemetry/audit-log.ts';
import { checkKeysDomain } from '../clients/client-domains.ts';
import { type ClientMetadata, TOKEN_ENDPOINT_AUTH_METHODS } from '../../records/client.ts';
import { isJsonMediaType } from '../../http/json-media-type.ts';
import { parseClientMetadata } from '../clients/parse-client-metadata.ts';
import { parseJsonObject } from '../../json/parse-json-object.ts';
import { isAuthorizationServer, issuerOf, ONLY_OTHER_TOKENS } from '../resources.ts';
import { unapprovedClientSeconds } from '../clients/unused-client-lifetime.ts';

/** The body is held in memory, and anyone may send one. */
const MAX_BODY_BYTES = 16 * 1024;

/** Every registration is stored, and the longest real ones have a quarter of this. */
const MAX_METADATA_BYTES = 4 * 1024;

const NOBODY_SIGNS_IN = `nobody can sign in for an MCP server of this host: ${ONLY_OTHER_TOKENS}`;

const REGISTRATIONS = { limit: 20, windowSeconds: 60 };
const SECOND = 1000;

/** Options of the registration endpoint. */
export interface RegisterOptions {
  readonly stores: Pick<Stores, 'clients' | 'rateLimits'>;
  readonly audit: AuditLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The client registration endpoint: open to everyone, within a limit per network.
 *
 * A registration is valid at its issuer only, and is soon forgotten unless a user approves it.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7591#section-3 RFC 7591, section 3}
 */
export function createRegisterEndpoint(options: RegisterOptions): Endpoint {
  return {
    methods: ['POST'],
    audience: 'oauth',
    crossOrigin: true,
    handle: (context) => register(context, options),
  };
}

async function register(
  context: EndpointContext,
  { stores: { clients, rateLimits }, audit, now }: RegisterOptions,
): Promise<GatewayResponse> {
  const { request, origin } = context;
  const { settings } = context.configuration;
  await limitNetwork(rateLimits, 'register', request, REGISTRATIONS);
  if (!isAuthorizationServer(issuerOf(context))) throw new InvalidRequestError(NOBODY_SIGNS_IN);
  const metadata = parseClientMetadata(await readMetadata(context), {
    default: 'client_secret_basic',
    supported: TOKEN_ENDPOINT_AUTH_METHODS,
  });
  checkKeysDomain(metadata, settings);
  checkLength(metadata);
  const secret = needsSecret(metadata) ? randomToken() : undefined;
  const client = {
    id: randomUUID(),
    issuer: origin,
    metadata,
    registeredAt: now(),
    isUnapproved: true,
    ...hashOf(secret),
  } as const;
  const { endSite } = networksOf(request.remoteAddress);
  await clients.register(client, unapprovedClientSeconds(settings), endSite);
  const { clientName } = metadata;
  audit.write('client-registered', context, { issuer: origin, clientId: client.id, clientName });
  return json(201, registrationResponse(client, secret));
}

function checkLength(metadata: ClientMetadata): void {
  if (Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES) return;
  throw new InvalidClientMetadataError(
    `the metadata are longer than ${String(MAX_METADATA_BYTES)} bytes`,
  );
}

function hashOf(secret: string | undefined): Pick<RegisteredClient, 'secretHash'> {
  return secret === undefined ? {} : { secretHash: hashToken(secret) };
}

/** RFC 7591, section 3.2.1. */
function registrationResponse(
  { id, metadata, registeredAt }: RegisteredClient,
  secret: string | undefined,
): JsonObject {
  return {
    client_id: id,
    client_id_issued_at: Math.floor(registeredAt / SECOND),
    // 0 means that the secret does not expire.
    ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    ...onTheWire(metadata),
  };
}

async function readMetadata({ request: { message } }: EndpointContext): Promise<JsonObject> {
  if (!isJsonMediaType(message.headers['content-type'], { suffix: false })) {
    throw new InvalidClientMetadataError('the body must be application/json');
  }
  const document = parseJsonObject(await readBody(message, MAX_BODY_BYTES));
  if (document.kind === 'object') return document.members;
  throw new InvalidClientMetadataError(`the body ${document.problem}`);
}

function needsSecret({ tokenEndpointAuthMethod }: ClientMetadata): boolean {
  return (
    tokenEndpointAuthMethod === 'client_secret_basic' ||
    tokenEndpointAuthMethod === 'client_secret_post'
  );
}

/** Returns the metadata in the spelling of the protocol. */
function onTheWire(metadata: ClientMetadata): JsonObject {
  return {
    redirect_uris: metadata.redirectUris,
    token_endpoint_auth_method: metadata.tokenEndpointAuthMethod,
    grant_types: metadata.grantTypes,
    response_types: ['code'],
    client_name: metadata.clientName,
    client_uri: metadata.clientUri,
    application_type: metadata.applicationType,
    scope: metadata.scope,
    jwks: metadata.jwks,
    jwks_uri: metadata.jwksUri,
  };
}
