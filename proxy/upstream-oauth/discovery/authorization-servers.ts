import {
  type AuthorizationServer,
  JSON_ATTRIBUTE_COMPARISON,
  OperationProcessingError,
  processDiscoveryResponse,
} from 'oauth4webapi';

import { isRecord } from '../../../shared/runtime/is-record.ts';
import { ExpiringMap } from '../../cache/expiring-map.ts';
import { UpstreamAuthError } from '../../errors/upstream-auth-error.ts';
import { isOnAllowedDomain } from '../../outbound/allowed-domain.ts';
import { DocumentCache, type LoadedDocument } from '../../outbound/document-cache.ts';
import { freshSeconds } from '../../outbound/freshness.ts';
import type { OutboundResponse } from '../../outbound/pinned-request.ts';
import { untilAborted } from '../../outbound/until-aborted.ts';
import {
  callFailure,
  domainNotAllowed,
  mostTelling,
  statusFailure,
} from '../calls/discovery-failures.ts';
import { toFetchResponse } from '../calls/to-fetch-response.ts';
import type { UpstreamCallContext, UpstreamCalls } from '../calls/upstream-calls.ts';
import { parseServerMetadata } from './server-metadata.ts';

const STEP = 'server-metadata';
const OK = 200;
const MAX_SHOWN = 200;

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const MAX_SERVERS = 1000;

/** A new connection wants them new; refreshing a token does not. */
const FRESHNESS = {
  minSeconds: MINUTE_SECONDS,
  maxSeconds: HOUR_SECONDS,
  defaultSeconds: 10 * MINUTE_SECONDS,
};

/** Spares a server that is down or wrong, and shows soon that it is mended. */
const FAILURE_SECONDS = 2;

/** Options of `AuthorizationServers`. */
export interface AuthorizationServersOptions {
  readonly calls: UpstreamCalls;
  readonly devAllowLoopback: boolean;
  readonly now: () => number;
}

/** The metadata of authorization servers, by issuer. Concurrent look-ups of one issuer are one. */
export class AuthorizationServers {
  readonly #options: AuthorizationServersOptions;
  readonly #documents: DocumentCache<AuthorizationServer>;
  readonly #failures: ExpiringMap<UpstreamAuthError>;

  constructor(options: AuthorizationServersOptions) {
    const { now } = options;
    this.#options = options;
    this.#documents = new DocumentCache({
      maxEntries: MAX_SERVERS,
      maxStaleSeconds: DAY_SECONDS,
      isOutage: (error) => error instanceof UpstreamAuthError && error.isTemporary,
      now,
    });
    this.#failures = new ExpiringMap(now, MAX_SERVERS);
  }

  /**
   * Returns the metadata of an issuer; with `maxAgeSeconds`, not older ones. During an outage older ones are
   * used for a day. Rejects with an `UpstreamAuthError`.
   */
  async get(
    issuer: string,
    { signal, ...context }: UpstreamCallContext,
    { maxAgeSeconds = Infinity }: { readonly maxAgeSeconds?: number } = {},
  ): Promise<AuthorizationServer> {
    const found = this.#get(issuer, context, maxAgeSeconds);
    if (signal === undefined) return found;
    // Attack: an upstream uses up its time, and then names the server of others, whose users would fail with it.
    return untilAborted(found, signal).catch((error: unknown) => {
      throw callFailure(error, issuer, STEP);
    });
  }

  async #get(
    issuer: string,
    context: UpstreamCallContext,
    maxAgeSeconds: number,
  ): Promise<AuthorizationServer> {
    // Checked at each use, because settings change while metadata are cached.
    const { allowedDomains } = context;
    if (allowedDomains !== undefined && !isOnAllowedDomain(issuer, allowedDomains)) {
      throw domainNotAllowed(issuer, STEP);
    }
    const failure = this.#failures.get(issuer);
    if (failure !== null) throw failure;
    try {
      const load = (): Promise<LoadedDocument<AuthorizationServer>> => this.#load(issuer, context);
      return await this.#documents.get(issuer, load, { maxAgeSeconds });
    } catch (error) {
      if (error instanceof UpstreamAuthError) this.#failures.set(issuer, error, FAILURE_SECONDS);
      throw error;
    }
  }

  async #load(
    issuer: string,
    context: UpstreamCallContext,
  ): Promise<LoadedDocument<AuthorizationServer>> {
    const { calls, now } = this.#options;
    const errors: UpstreamAuthError[] = [];
    for (const url of metadataUrls(issuer)) {
      // Nothing else of this host would answer either.
      const response = await calls.send(url, { step: STEP }, context).catch((error: unknown) => {
        throw callFailure(error, url, STEP);
      });
      try {
        const value = await this.#read(issuer, url, response);
        return { value, freshSeconds: freshSeconds(response.headers, FRESHNESS, now()) };
      } catch (error) {
        if (!(error instanceof UpstreamAuthError)) throw error;
        errors.push(error);
      }
    }
    throw mostTelling(errors) ?? new Error('there is at least one place');
  }

  async #read(
    issuer: string,
    url: string,
    response: OutboundResponse,
  ): Promise<AuthorizationServer> {
    if (response.status !== OK) throw statusFailure(response.status, url, STEP);
    try {
      const expected = new URL(issuer);
      const received = await processDiscoveryResponse(expected, toFetchResponse(response));
      return parseServerMetadata(received, this.#options);
    } catch (error) {
      throw readFailure(error, issuer, url);
    }
  }
}

/** The issuer that metadata name, spelled so that a difference to the expected one shows. */
function issuerIn({ cause }: OperationProcessingError): string {
  const body = isRecord(cause) ? cause['body'] : undefined;
  const issuer = isRecord(body) ? body['issuer'] : undefined;
  return JSON.stringify(String(issuer).slice(0, MAX_SHOWN));
}

/** The errors of the protocol have the response as their cause, of which only the issuer is for the log. */
function readFailure(error: unknown, issuer: string, url: string): unknown {
  if (!(error instanceof OperationProcessingError) && !(error instanceof TypeError)) return error;
  const { host } = new URL(url);
  const isMismatch =
    error instanceof OperationProcessingError && error.code === JSON_ATTRIBUTE_COMPARISON;
  // RFC 8414, section 3.3. Attack: a server passes itself off as another one, to get its codes.
  if (isMismatch) {
    const message = `${url} has the metadata of the issuer ${issuerIn(error)}, and ${issuer} was asked`;
    return new UpstreamAuthError('upstream-auth-issuer-mismatch', message, { step: STEP, host });
  }
  const message = `${url} has no metadata of an authorization server: ${error.message}`;
  return new UpstreamAuthError('upstream-auth-metadata-invalid', message, { step: STEP, host });
}

/**
 * Returns where the metadata of an issuer can be, in the order of the MCP specification (Authorization Server
 * Metadata Discovery). Throws an `UpstreamAuthError` if the issuer is not one.
 */
function metadataUrls(issuer: string): readonly string[] {
  const url = URL.parse(issuer);
  if (url?.username !== '' || url.password !== '' || /[?#]/.test(issuer)) {
    // RFC 8414, section 2.
    const message = `${JSON.stringify(issuer)} is not the URL of an issuer`;
    throw new UpstreamAuthError('upstream-auth-metadata-invalid', message, { step: STEP });
  }
  const { origin, pathname } = url;
  const path = pathname.replace(/\/$/, '');
  const inserted = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return path === ''
    ? inserted
    : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}
