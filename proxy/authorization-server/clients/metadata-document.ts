import { ClientIdDomainNotAllowedError } from '../../errors/authorization-page-errors.ts';
import { OAuthError } from '../../errors/oauth-errors.ts';
import { TooManyRequestsError } from '../../errors/denial-errors.ts';
import { isOnAllowedDomain } from '../../outbound/allowed-domain.ts';
import { DocumentCache, type LoadedDocument } from '../../outbound/document-cache.ts';
import { freshSeconds } from '../../outbound/freshness.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { OutboundFailedError } from '../../outbound/outbound-errors.ts';
import type { OutboundResponse } from '../../outbound/pinned-request.ts';
import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { Client } from '../../records/client.ts';
import { isJsonMediaType } from '../../http/json-media-type.ts';
import { MetadataDocumentError } from './metadata-document-error.ts';
import { parseJsonObject } from '../../json/parse-json-object.ts';
import { parseMetadataDocument } from './parse-metadata-document.ts';
import { problemOfClientIdUrl } from './url-client-id.ts';

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 24 * 60 * MINUTE_SECONDS;

/** Draft, section 6.6: 5 kilobytes are enough for a document. */
const MAX_DOCUMENT_BYTES = 5 * 1024;
const TIMEOUT_MS = 5000;
const MAX_CACHED_DOCUMENTS = 1000;

const FRESHNESS = {
  minSeconds: MINUTE_SECONDS,
  maxSeconds: DAY_SECONDS,
  defaultSeconds: 5 * MINUTE_SECONDS,
};

const SERVER_ERROR_STATUS = 500;

/** The settings that decide which documents may be read. */
type MetadataDocumentSettings = Pick<
  CompiledSettings,
  'allowedClientIdDomains' | 'outboundAllowedCidrs'
>;

/** Called before a fetch; throws `TooManyRequestsError` if the requester caused too many. */
export type BeforeFetch = () => Promise<void>;

/** Returns the client that a URL identifies; throws an `AuthorizationPageError` if it identifies none. */
export type ReadMetadataDocument = (
  clientId: string,
  settings: MetadataDocumentSettings,
  beforeFetch?: BeforeFetch,
) => Promise<Client>;

/** Options of `createMetadataDocumentReader`. */
export interface MetadataDocumentOptions {
  readonly guardedFetch: GuardedFetch;
  readonly devAllowLoopback: boolean;
  readonly now?: () => number;
}

/**
 * Makes the reader of client ID metadata documents. It caches valid documents for as long as their server
 * allows, between a minute and a day, and never caches error responses. Only a few documents are fetched
 * at once, because strangers choose their addresses.
 *
 * @see {@link https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document OAuth Client ID Metadata Document}
 */
export function createMetadataDocumentReader({
  guardedFetch,
  devAllowLoopback,
  now = Date.now,
}: MetadataDocumentOptions): ReadMetadataDocument {
  const documents = new DocumentCache<Client>({
    maxEntries: MAX_CACHED_DOCUMENTS,
    maxStaleSeconds: DAY_SECONDS,
    isOutage,
    now,
  });
  const fetch = boundedFetch(guardedFetch, now);
  return async (clientId, settings, beforeFetch) => {
    checkDomain(clientId, settings);
    const problem = problemOfClientIdUrl(clientId, { devAllowLoopback });
    if (problem !== null) throw invalid(`The client ID ${problem}.`);
    const load = async (): Promise<LoadedDocument<Client>> => {
      const response = await fetchDocument(clientId, settings, fetch);
      return readDocument(clientId, settings, { response, now: now() });
    };
    return await documents.get(clientId, load, { beforeLoad: beforeFetch });
  };
}

/** Attack: a stranger who asks too often must not make a cached client unavailable to others. */
function isOutage(error: unknown): boolean {
  if (error instanceof TooManyRequestsError) return true;
  return error instanceof MetadataDocumentError && error.problem === 'unavailable';
}

/** Checks every use, before anything is fetched (specification: Global MCP settings, rule 4). */
function checkDomain(clientId: string, { allowedClientIdDomains }: MetadataDocumentSettings): void {
  if (!isOnAllowedDomain(clientId, allowedClientIdDomains)) {
    throw new ClientIdDomainNotAllowedError(clientId);
  }
}

async function fetchDocument(
  clientId: string,
  { outboundAllowedCidrs }: MetadataDocumentSettings,
  guardedFetch: GuardedFetch,
): Promise<OutboundResponse> {
  try {
    return await guardedFetch(clientId, {
      accept: 'application/json',
      maxBytes: MAX_DOCUMENT_BYTES,
      timeoutMs: TIMEOUT_MS,
      allowedCidrs: outboundAllowedCidrs,
    });
  } catch (error) {
    const isOutage = error instanceof OutboundFailedError && error.kind !== 'too-large';
    // Attack: the address and the reason would map the internal network, so only the log has them.
    throw new MetadataDocumentError(
      isOutage ? 'unavailable' : 'invalid',
      'The metadata document of this client could not be fetched.',
      { cause: error },
    );
  }
}

function readDocument(
  clientId: string,
  settings: MetadataDocumentSettings,
  { response, now }: { response: OutboundResponse; now: number },
): LoadedDocument<Client> {
  checkResponse(response);
  const document = parseJsonObject(response.body);
  if (document.kind === 'problem') {
    throw invalid(`The metadata document of this client ${document.problem}.`);
  }
  try {
    const metadata = parseMetadataDocument(clientId, document.members, settings);
    return {
      value: { id: clientId, source: 'metadata-document', metadata },
      freshSeconds: freshSeconds(response.headers, FRESHNESS, now),
    };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw invalid(
      `The metadata document of this client is not valid: ${error.description}.`,
      error,
    );
  }
}

function checkResponse({ status, headers }: OutboundResponse): void {
  if (status !== 200) {
    throw new MetadataDocumentError(
      status >= SERVER_ERROR_STATUS ? 'unavailable' : 'invalid',
      `The metadata document of this client was answered with status ${String(status)}.`,
    );
  }
  if (!isJsonMediaType(headers['content-type'], { suffix: true })) {
    throw invalid('The metadata document of this client has a media type other than JSON.');
  }
}

function invalid(explanation: string, cause?: Error): MetadataDocumentError {
  return new MetadataDocumentError('invalid', explanation, { cause });
}
