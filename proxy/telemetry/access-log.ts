import { cutText } from '../../shared/telemetry/cut-text.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { SentResponse } from '../http/send-response.ts';

/** One request and its response. */
export interface AccessRecord {
  readonly requestId: string;
  /** Absent if its head could not be parsed. */
  readonly request: GatewayRequest | undefined;
  /** Name of the route; absent when none was matched. */
  readonly route: string | undefined;
  /** The gateway's own response, or a forwarded one. Absent if the client got none. */
  readonly response: SentResponse | Forwarded | undefined;
  readonly durationMs: number;
}

/**
 * The access log: one JSON line for each request, once its response is over.
 *
 * Queries, header fields and bodies are never in it: they hold codes and tokens.
 */
export class AccessLog {
  readonly #lines: LineWriter;
  readonly #now: () => number;

  constructor(lines: LineWriter, now: () => number) {
    this.#lines = lines;
    this.#now = now;
  }

  write({ requestId, request, route, response, durationMs }: AccessRecord): void {
    const line = {
      level: 'info',
      service: 'access',
      time: new Date(this.#now()).toISOString(),
      message: 'request',
      'request-id': requestId,
      client: request?.remoteAddress,
      method: request?.method,
      host: request?.authority,
      path: request && cutText(request.path),
      route,
      ...responseFields(response),
      'duration-ms': rounded(durationMs),
    };
    this.#lines.write(JSON.stringify(line));
  }
}

function responseFields(response: AccessRecord['response']): object {
  if (response === undefined) return { ended: 'client-gone' };
  const { status, bytes } = response;
  if (!('upstream' in response)) return { status, bytes, ended: 'complete' };
  const { ended, upstream, firstByteMs } = response;
  return { status, bytes, ended, upstream, 'first-byte-ms': rounded(firstByteMs) };
}

/** Rounds milliseconds to three digits after the point. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
