import {
  InvalidClientError,
  InvalidClientMetadataError,
  TemporarilyUnavailableError,
} from '../../errors/oauth-errors.ts';
import { DocumentCache, type LoadedDocument } from '../../outbound/document-cache.ts';
import { freshSeconds } from '../../outbound/freshness.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { OutboundFailedError } from '../../outbound/outbound-errors.ts';
import type { OutboundResponse } from '../../outbound/pinned-request.ts';
import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { checkKeysDomain } from './client-domains.ts';
import type { ClientKeySet, ClientMetadata } from '../../records/client.ts';
import { isJsonMediaType } from '../../http/json-media-type.ts';
import { parseClientKeySet } from './parse-client-key-set.ts';
import { oncePerObject } from '../../cache/once-per-object.ts';
import { parseJsonObject } from '../../json/parse-json-object.ts';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;

const MAX_KEY_SET_BYTES = 64 * 1024;
const TIMEOUT_MS = 5000;
const MAX_CACHED_KEY_SETS = 1000;
const SERVER_ERROR_STATUS = 500;

// A withdrawn key must stop working soon, so keys are cached for a shorter time than metadata.
const FRESHNESS = {
  minSeconds: MINUTE_SECONDS,
  maxSeconds: HOUR_SECONDS,
  defaultSeconds: 5 * MINUTE_SECONDS,
};

/** The settings that decide which keys may be fetched. */
export type ClientKeysSettings = Pick<
  CompiledSettings,
  'allowedClientIdDomains' | 'outboundAllowedCidrs'
>;

/**
 * Returns the public keys of a client, not older than `maxAgeSeconds` if that is given.
 *
 * Throws `InvalidClientError`, or `TemporarilyUnavailableError` if their server is down.
 */
export type ReadClientKeys = (
  metadata: ClientMetadata,
  settings: ClientKeysSettings,
  options?: { readonly maxAgeSeconds?: number },
) => Promise<ClientKeySet>;

/** Options of `createClientKeysReader`. */
export interface ClientKeysOptions {
  readonly guardedFetch: GuardedFetch;
  readonly now?: () => number;
}

/** Makes the reader of clients' keys, by value or from `jwks_uri`. Keys from a URI are cached. */
export function createClientKeysReader({
  guardedFetch,
  now = Date.now,
}: ClientKeysOptions): ReadClientKeys {
  const keySets = new DocumentCache<ClientKeySet>({
    maxEntries: MAX_CACHED_KEY_SETS,
    maxStaleSeconds: HOUR_SECONDS,
    isOutage: (error) => error instanceof TemporarilyUnavailableError,
    now,
  });
  const fetch = boundedFetch(guardedFetch, now);
  return async (metadata, settings, options) => {
    const { jwks, jwksUri } = metadata;
    if (jwks !== undefined) return asClientError(() => checkedKeys(jwks));
    if (jwksUri === undefined) throw new InvalidClientError('the client has no keys');
    // Checked again: the client may have registered under other settings.
    asClientError(() => checkKeysDomain(metadata, settings));
    const load = async (): Promise<LoadedDocument<ClientKeySet>> => {
      const response = await fetchKeySet(jwksUri, settings, fetch);
      const value = readKeySet(response);
      return { value, freshSeconds: freshSeconds(response.headers, FRESHNESS, now()) };
    };
    return keySets.get(jwksUri, load, options);
  };
}

/** Checks stored keys again: a client may have registered under older rules. */
const checkedKeys = oncePerObject((jwks: ClientKeySet) => parseClientKeySet(jwks));

/** Converts an error in metadata to `invalid_client`: this is not the registration. */
function asClientError<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof InvalidClientMetadataError)) throw error;
    throw new InvalidClientError(error.description, { cause: error });
  }
}

async function fetchKeySet(
  jwksUri: string,
  { outboundAllowedCidrs }: ClientKeysSettings,
  guardedFetch: GuardedFetch,
): Promise<OutboundResponse> {
  try {
    return await guardedFetch(jwksUri, {
      accept: 'application/jwk-set+json, application/json',
      maxBytes: MAX_KEY_SET_BYTES,
      timeoutMs: TIMEOUT_MS,
      allowedCidrs: outboundAllowedCidrs,
    });
  } catch (cause) {
    if (cause instanceof OutboundFailedError && cause.kind !== 'too-large') {
      throw new TemporarilyUnavailableError('the keys of the client cannot be fetched', { cause });
    }
    throw new InvalidClientError('the keys of the client cannot be fetched', { cause });
  }
}

function readKeySet({ status, headers, body }: OutboundResponse): ClientKeySet {
  if (status >= SERVER_ERROR_STATUS) {
    throw new TemporarilyUnavailableError('the keys of the client cannot be fetched');
  }
  if (status !== 200 || !isJsonMediaType(headers['content-type'], { suffix: true })) {
    throw new InvalidClientError('jwks_uri of the client has no key set');
  }
  const document = parseJsonObject(body);
  if (document.kind === 'problem') {
    throw new InvalidClientError(`the key set at jwks_uri of the client ${document.problem}`);
  }
  return asClientError(() => parseClientKeySet(document.members));
}
