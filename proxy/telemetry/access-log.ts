import { cutText } from '../../shared/telemetry/cut-text.ts';
import { jsonString } from '../../shared/telemetry/json-string.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { oncePerTime } from '../../shared/telemetry/once-per-time.ts';
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
  readonly #start: (now: number) => string;
  readonly #now: () => number;

  constructor(lines: LineWriter, now: () => number) {
    this.#lines = lines;
    this.#now = now;
    this.#start = oncePerTime(startOfLine);
  }

  write({ requestId, request, route, response, durationMs }: AccessRecord): void {
    // Made by the gateway, of characters that need no escapes.
    let line = `${this.#start(this.#now())},"request-id":"${requestId}"`;
    if (request !== undefined) line += requestMembers(request);
    if (route !== undefined) line += `,"route":${jsonString(route)}`;
    this.#lines.write(
      `${line},${responseMembers(response)},"duration-ms":${rounded(durationMs)}}\n`,
    );
  }
}

function startOfLine(now: number): string {
  const time = new Date(now).toISOString();
  return `{"level":"info","service":"access","time":"${time}","message":"request"`;
}

function requestMembers({ remoteAddress, method, authority, path }: GatewayRequest): string {
  const caller = `,"client":${jsonString(remoteAddress)},"method":${jsonString(method)}`;
  return `${caller},"host":${jsonString(authority)},"path":${jsonString(cutText(path))}`;
}

function responseMembers(response: AccessRecord['response']): string {
  if (response === undefined) return '"ended":"client-gone"';
  const sent = `"status":${String(response.status)},"bytes":${String(response.bytes)}`;
  if (!('upstream' in response)) return `${sent},"ended":"complete"`;
  const { ended, upstream, firstByteMs } = response;
  const origin = jsonString(upstream);
  return `${sent},"ended":"${ended}","upstream":${origin},"first-byte-ms":${rounded(firstByteMs)}`;
}

/** Rounds milliseconds to three digits after the point. */
function rounded(milliseconds: number): string {
  return String(Math.round(milliseconds * 1_000) / 1_000);
}
