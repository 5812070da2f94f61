import { randomUUID } from 'node:crypto';

import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import { TooManyRequestsError } from '../../errors/request-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { networkOf } from '../../http/network-of.ts';
import { readBody } from '../../http/read-body.ts';
import { json } from '../../http/responses.ts';
import type { JsonObject } from '../../json/json-object.ts';
import type { Stores } from '../../store/stores.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import { checkKeysDomain } from '../clients/client-domains.ts';
import { type ClientMetadata, TOKEN_ENDPOINT_AUTH_METHODS } from '../../records/client.ts';
import { isJsonMediaType } from '../clients/json-media-type.ts';
import { parseClientMetadata } from '../clients/parse-client-metadata.ts';
import { parseJsonObject } from '../clients/parse-json-object.ts';
import { unapprovedClientSeconds } from '../clients/unused-client-lifetime.ts';

/** Kept in memory, whoever sends it. */
const MAX_BODY_BYTES = 16 * 1024;
const REGISTRATIONS = { limit: 20, windowSeconds: 60 };
const SECOND = 1000;

export interface RegisterDeps {
  readonly stores: Pick<Stores, 'clients' | 'rateLimits'>;
  readonly logger: Logger;
  readonly now?: () => number;
}

/**
 * The client registration endpoint: open to everyone, within a rate per network.
 *
 * A registration is good at the issuer it was made at, and forgotten soon unless a user
 * approves it.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7591#section-3 RFC 7591, section 3}
 */
export function createRegisterEndpoint({
  stores: { clients, rateLimits },
  logger,
  now = Date.now,
}: RegisterDeps): Endpoint {
  const handle = async (context: EndpointContext): Promise<GatewayResponse> => {
    const { request, configuration, origin } = context;
    const { settings } = configuration;
    const network = networkOf(request.remoteAddress);
    const retryAfterSeconds = await rateLimits.take(`register:${network}`, REGISTRATIONS);
    if (retryAfterSeconds > 0) throw new TooManyRequestsError(retryAfterSeconds);

    const metadata = parseClientMetadata(await readMetadata(context), {
      default: 'client_secret_basic',
      supported: TOKEN_ENDPOINT_AUTH_METHODS,
    });
    checkKeysDomain(metadata, settings);
    const secret = needsSecret(metadata) ? randomToken() : undefined;
    const client = {
      id: randomUUID(),
      issuer: origin,
      metadata,
      registeredAt: now(),
      ...(secret === undefined ? {} : { secretHash: hashToken(secret) }),
    };
    await clients.register(client, unapprovedClientSeconds(settings));
    logger.info('client registered', {
      'request-id': request.id,
      issuer: origin,
      'client-id': client.id,
      'client-name': metadata.clientName,
    });
    return json(201, {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.registeredAt / SECOND),
      // RFC 7591, section 3.2.1: 0 is a secret that does not expire.
      ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
      ...onTheWire(metadata),
    });
  };
  return { methods: ['POST'], audience: 'oauth', crossOrigin: true, handle };
}

async function readMetadata({ request: { message } }: EndpointContext): Promise<JsonObject> {
  if (!isJsonMediaType(message.headers['content-type'], { suffix: false })) {
    throw new InvalidClientMetadataError('the body must be application/json');
  }
  const members = parseJsonObject(await readBody(message, MAX_BODY_BYTES));
  if (members === null) throw new InvalidClientMetadataError('the body must be a JSON object');
  return members;
}

function needsSecret({ tokenEndpointAuthMethod }: ClientMetadata): boolean {
  return (
    tokenEndpointAuthMethod === 'client_secret_basic' ||
    tokenEndpointAuthMethod === 'client_secret_post'
  );
}

/** Everything that was registered, as it was registered (RFC 7591, section 3.2.1). */
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
