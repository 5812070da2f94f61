import { performance } from 'node:perf_hooks';

import {
  ACCESS_LOG_FIELDS,
  DEFAULT_ACCESS_LOG_FIELDS,
  type AccessLogField,
  type AccessLogMode,
  type CompiledAccessLog,
} from '../../shared/snapshot/log-fields.ts';
import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import { inOnePiece } from '../../shared/telemetry/in-one-piece.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { oncePerTime } from '../../shared/telemetry/once-per-time.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { SentResponse } from '../http/send-response.ts';
import {
  headerValue,
  isHeader,
  lineMembers,
  loggedText,
  queryValues,
  REQUEST_VALUES,
  type ValueOf,
} from './request-members.ts';

/** One request and its response, which is over. */
export interface AccessRecord {
  readonly requestId: string;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
  /** Absent if its head could not be parsed. */
  readonly request: GatewayRequest | undefined;
  /** Absent if none was matched. */
  readonly route: { readonly compiled: { readonly name: string } } | undefined;
  /** The gateway's own response, or a forwarded one. Absent if the client got none. */
  readonly sent: SentResponse | Forwarded | undefined;
  /** Why the request was refused, or has no whole response; absent if neither. */
  readonly failure?: unknown;
}

/** A connection that was refused, or bytes on one that are no request. */
export interface RefusedConnection {
  /** Address or network of the client. */
  readonly address: string;
  /** Of the answer; absent if there was none. */
  readonly status?: number;
  /** Present if the connection itself was refused. */
  readonly reason?: string;
}

/** Options of an `AccessLog`. */
interface AccessLogOptions {
  /** All requests have a line, whatever the mode of the settings. */
  readonly isForced: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock; that of `AccessRecord` if absent. */
  readonly clock?: () => number;
}

type LogSettings = Pick<CompiledSettings, 'accessLog'>;

/**
 * The access log: one JSON line for each request, once its response is over, and for each refused connection.
 *
 * The settings say which requests have a line, and which fields it has. Bodies are never in it.
 */
export class AccessLog {
  readonly #lines: LineWriter;
  readonly #isForced: boolean;
  readonly #start: (now: number) => string;
  readonly #startOfRefused: (now: number) => string;
  readonly #now: () => number;
  readonly #clock: () => number;
  #selection: Selection;

  constructor(
    lines: LineWriter,
    { isForced, now, clock = () => performance.now() }: AccessLogOptions,
  ) {
    this.#lines = lines;
    this.#isForced = isForced;
    this.#now = now;
    this.#clock = clock;
    this.#start = oncePerTime((time) => startOfLine(time, 'request'));
    this.#startOfRefused = oncePerTime((time) => startOfLine(time, 'connection refused'));
    this.#selection = select(undefined, isForced);
  }

  /** Writes the line of a request, if the settings want it. */
  write(record: AccessRecord, settings: LogSettings): void {
    const { mode, ofRequest } = this.#selectionOf(settings);
    if (mode === 'None' || (mode === 'Errors' && !hasFailed(record))) return;
    const members = ofRequest({ record, endedAt: this.#clock() });
    this.#lines.write(`${this.#start(this.#now())}${members}}\n`);
  }

  /** Writes the line of a refused connection, if the settings want it. */
  writeRefused(refused: RefusedConnection, settings: LogSettings): void {
    const { mode, ofRefused } = this.#selectionOf(settings);
    if (mode === 'None') return;
    this.#lines.write(`${this.#startOfRefused(this.#now())}${ofRefused(refused)}}\n`);
  }

  /** Settings rarely change, so the previous selection is nearly always the current one. */
  #selectionOf({ accessLog }: LogSettings): Selection {
    if (this.#selection.settings !== accessLog) this.#selection = select(accessLog, this.#isForced);
    return this.#selection;
  }
}

function startOfLine(now: number, message: string): string {
  const time = new Date(now).toISOString();
  return inOnePiece(`{"level":"info","service":"access","time":"${time}","message":"${message}"`);
}

const FIRST_ERROR = 400;

/** Returns whether a request was refused or failed. A client that leaves a stream is no failure. */
function hasFailed({ sent }: AccessRecord): boolean {
  if (sent === undefined) return true;
  return sent.status >= FIRST_ERROR || ('ended' in sent && sent.ended === 'cut-off');
}

/** What the settings want, as functions. */
interface Selection {
  readonly settings: CompiledAccessLog | undefined;
  readonly mode: AccessLogMode;
  readonly ofRequest: (ended: EndedRequest) => string;
  readonly ofRefused: (refused: RefusedConnection) => string;
}

function select(settings: CompiledAccessLog | undefined, isForced: boolean): Selection {
  const { mode = 'None', fields = DEFAULT_ACCESS_LOG_FIELDS } = settings ?? {};
  const ofRequest = ACCESS_LOG_FIELDS.filter((field) => fields.includes(field)).flatMap(
    (field): Members<EndedRequest> => {
      const value = REQUEST[field];
      return value === undefined ? [] : [[field, value]];
    },
  );
  const headers = fields
    .filter(isHeader)
    .map((field): Members<EndedRequest>[number] => [field, ofHead(headerValue(field))]);
  return {
    settings,
    mode: isForced ? 'All' : mode,
    ofRequest: lineMembers([...ofRequest, ...headers]),
    ofRefused: lineMembers(REFUSED.filter(([field]) => fields.includes(field))),
  };
}

type Members<Subject> = (readonly [field: AccessLogField, value: ValueOf<Subject>])[];

interface EndedRequest {
  readonly record: AccessRecord;
  /** By `performance.now()`. */
  readonly endedAt: number;
}

const REQUEST: Readonly<Partial<Record<AccessLogField, ValueOf<EndedRequest>>>> = {
  // Made by the gateway, of characters that need no escapes.
  'request-id': ({ record }) => `"${record.requestId}"`,
  method: ofHead(REQUEST_VALUES.method),
  host: ofHead(REQUEST_VALUES.host),
  path: ofHead(REQUEST_VALUES.path),
  query: ofHead(REQUEST_VALUES.query),
  // The gateway's own endpoints get codes of identity providers.
  'query-values': ({ record: { request, route } }) =>
    request && route ? queryValues(request) : undefined,
  ip: ofHead(REQUEST_VALUES.ip),
  route: ({ record }) => loggedText(record.route?.compiled.name),
  status: ({ record: { sent } }) => (sent ? String(sent.status) : undefined),
  bytes: ({ record: { sent } }) => (sent ? String(sent.bytes) : undefined),
  ended: ({ record: { sent } }) => `"${endOf(sent)}"`,
  reason: ({ record: { failure } }) =>
    failure instanceof GatewayError ? loggedText(failure.reason) : undefined,
  upstream: ofForwarded(({ upstream }) => loggedText(upstream)),
  'first-byte-ms': ofForwarded(({ firstByteMs }) => rounded(firstByteMs)),
  'upstream-ms': ofForwarded(({ sentAt }, { endedAt }) => rounded(endedAt - sentAt)),
  'gateway-ms': ofForwarded(({ sentAt }, { record }) => rounded(sentAt - record.startedAt)),
  'duration-ms': ({ record, endedAt }) => rounded(endedAt - record.startedAt),
  'trace-id': ofHead(REQUEST_VALUES['trace-id']),
};

const REFUSED: Members<RefusedConnection> = [
  ['ip', ({ address }) => loggedText(address)],
  ['status', ({ status }) => (status === undefined ? undefined : String(status))],
  ['reason', ({ reason }) => loggedText(reason)],
];

function ofHead(value: ValueOf<GatewayRequest>): ValueOf<EndedRequest> {
  return ({ record: { request } }) => (request === undefined ? undefined : value(request));
}

function ofForwarded(
  value: (forwarded: Forwarded, ended: EndedRequest) => string | undefined,
): ValueOf<EndedRequest> {
  return (ended) => {
    const { sent } = ended.record;
    return sent !== undefined && 'upstream' in sent ? value(sent, ended) : undefined;
  };
}

function endOf(sent: AccessRecord['sent']): string {
  if (sent === undefined) return 'client-gone';
  return 'ended' in sent ? sent.ended : 'complete';
}

/** Rounds milliseconds to three digits after the point. */
function rounded(milliseconds: number): string {
  return String(Math.round(milliseconds * 1_000) / 1_000);
}
