import type { AuthorizationServer, CustomFetchOptions } from 'oauth4webapi';

import type { Cidrs } from '../../http/address-ranges.ts';
import type { UpstreamAuthStep } from '../../errors/upstream-auth-error.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { OutboundCalls, outcomeOf } from '../../outbound/outbound-calls.ts';
import { OutboundRefusedError } from '../../outbound/outbound-errors.ts';
import type { OutboundContent, OutboundResponse } from '../../outbound/pinned-request.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import { toFetchResponse } from './to-fetch-response.ts';

/** Far more than any real metadata or token response. */
const MAX_BYTES = 256 * 1024;

const TIMEOUT_MS = 5000;

/** A `fetch` as `oauth4webapi` calls it. */
export type UpstreamFetch = (
  url: string,
  options: CustomFetchOptions<string, URLSearchParams | string | undefined>,
) => Promise<Response>;

/** For which route and request something is asked, and which hosts may be asked. */
export interface UpstreamCallContext {
  /** Name of the route, for logs. */
  readonly route: string;
  /** Absent if no request caused it. */
  readonly requestId?: string | undefined;
  readonly allowedCidrs: Cidrs;
  /** Domain patterns. Absent: the URL is an operator's own word. */
  readonly allowedDomains?: readonly string[];
  /** Bounds several calls together; each has a bound of its own too. */
  readonly signal?: AbortSignal;
}

interface UpstreamCall extends Omit<OutboundContent, 'accept'> {
  readonly step: UpstreamAuthStep;
  readonly accept?: string;
  readonly maxBytes?: number;
}

/** Options of `UpstreamCalls`. */
export interface UpstreamCallsOptions {
  readonly guardedFetch: GuardedFetch;
  /** Traces and measures the calls. */
  readonly outbound?: OutboundCalls;
  readonly logger: Pick<Logger, 'info'>;
  readonly now: () => number;
}

/** Sends all requests of upstream OAuth. Each is a line in the log, without its query and its content. */
export class UpstreamCalls {
  readonly #options: UpstreamCallsOptions;

  constructor(options: UpstreamCallsOptions) {
    this.#options = options;
  }

  /** Rejects with an `OutboundRefusedError` or an `OutboundFailedError`. No status is an error. */
  async send(
    url: string,
    { step, accept = 'application/json', maxBytes = MAX_BYTES, ...content }: UpstreamCall,
    { allowedCidrs, allowedDomains, signal, route, requestId }: UpstreamCallContext,
  ): Promise<OutboundResponse> {
    const { guardedFetch, logger, now, outbound = new OutboundCalls() } = this.#options;
    const start = now();
    const log = (outcome: string): void => {
      logger.info('upstream OAuth call', {
        host: URL.parse(url)?.host,
        step,
        outcome,
        'duration-ms': now() - start,
        route,
        'request-id': requestId,
      });
    };
    const guard = { timeoutMs: TIMEOUT_MS, allowedCidrs, allowedDomains, signal };
    try {
      const fetch = outbound.through(guardedFetch, 'upstream-oauth', step);
      const response = await fetch(url, { ...content, accept, maxBytes, ...guard });
      log(`status-${String(response.status)}`);
      return response;
    } catch (error) {
      log(outcomeOf(error));
      throw error;
    }
  }

  /** Returns the `fetch` for the endpoints of one server. No other URL is fetched. */
  fetchFor(server: AuthorizationServer, context: UpstreamCallContext): UpstreamFetch {
    return async (url, { method, headers, body }) => {
      const step = stepAt(url, server);
      if (step === undefined) {
        throw new OutboundRefusedError('url', 'the URL is not an endpoint of this server');
      }
      const { accept, ...further } = headers;
      const response = await this.send(
        url,
        {
          step,
          method: method === 'POST' ? 'POST' : 'GET',
          headers: further,
          body: body?.toString(),
          ...(accept !== undefined && { accept }),
        },
        context,
      );
      return toFetchResponse(response);
    };
  }
}

/** The endpoints that oauth4webapi calls, which parses URLs before it does. */
function stepAt(url: string, server: AuthorizationServer): UpstreamAuthStep | undefined {
  const endpoints = [
    [server.token_endpoint, 'token'],
    [server.revocation_endpoint, 'revocation'],
    [server.registration_endpoint, 'registration'],
  ] as const;
  return endpoints.find(([endpoint]) => URL.parse(endpoint ?? '')?.href === url)?.[1];
}
