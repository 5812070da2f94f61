import { cutText } from '../../shared/telemetry/cut-text.ts';
import { jsonString } from '../../shared/telemetry/json-string.ts';
import { oncePerTime } from '../../shared/telemetry/once-per-time.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { AUTHORIZE_LOG_FIELDS, type AuthorizeLogField } from '../../shared/snapshot/snapshot.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import type { Identity } from '../records/session.ts';
import type { JsonRpcMessage } from '../mcp/json-rpc.ts';
import type { Decision } from '../policy/decision.ts';

/** One authorization check. */
export interface AuthorizationRecord {
  readonly requestId: string;
  /** Absent for anonymous requests. */
  readonly identity: Identity | undefined;
  /** Absent for requests without a JSON-RPC message. */
  readonly message: JsonRpcMessage | undefined;
  readonly decision: Decision;
}

/**
 * The authorization log: one JSON line for each decision (specification: Authorization log record).
 *
 * `level`, `service`, `time` and `message` are in every line, because they identify it. The other
 * fields are present if they are selected and the request has them.
 */
export class AuthorizationLog {
  readonly #lines: LineWriter;
  readonly #start: (now: number) => string;
  readonly #now: () => number;
  #selection: Selection = { fields: [], members: [] };

  constructor(lines: LineWriter, now: () => number = Date.now) {
    this.#lines = lines;
    this.#now = now;
    this.#start = oncePerTime(startOfLine);
  }

  write(record: AuthorizationRecord, fields: readonly AuthorizeLogField[]): void {
    let line = this.#start(this.#now());
    for (const { start, valueOf } of this.#membersOf(fields)) {
      const value = valueOf(record);
      if (value !== undefined) line += start + value;
    }
    this.#lines.write(`${line}}`);
  }

  /** Settings rarely change, so the previous selection is nearly always the current one. */
  #membersOf(fields: readonly AuthorizeLogField[]): readonly Member[] {
    if (this.#selection.fields !== fields) this.#selection = { fields, members: select(fields) };
    return this.#selection.members;
  }
}

function startOfLine(now: number): string {
  const time = new Date(now).toISOString();
  return `{"level":"info","service":"authorize","time":"${time}","message":"authorize check"`;
}

interface Selection {
  readonly fields: readonly AuthorizeLogField[];
  readonly members: readonly Member[];
}

/** A member of a record: its name as JSON, and a function for its value as JSON. */
interface Member {
  readonly start: string;
  readonly valueOf: ValueOf;
}

type ValueOf = (record: AuthorizationRecord) => string | undefined;

/** Returns the selected members in the specification's order. */
function select(fields: readonly AuthorizeLogField[]): readonly Member[] {
  return AUTHORIZE_LOG_FIELDS.flatMap((field): Member[] => {
    const valueOf = VALUES[field];
    if (valueOf === undefined || !fields.includes(field)) return [];
    return [{ start: `,${JSON.stringify(field)}:`, valueOf }];
  });
}

/** Functions for values as JSON; undefined for the fields that begin every line. */
const VALUES: Readonly<Record<AuthorizeLogField, ValueOf | undefined>> = {
  'mcp-method': ({ message }) => text(message?.method),
  'mcp-tool': ({ message }) => text(message?.toolName),
  'mcp-tool-parameters': ({ message }) => parameters(message),
  // Made by the gateway, of characters that need no escapes.
  'request-id': ({ requestId }) => `"${requestId}"`,
  user: ({ identity }) => identity && textsOf(identity).user,
  email: ({ identity }) => identity && textsOf(identity).email,
  allow: ({ decision }) => String(decision.allow),
  'allow-why-true': ({ decision }) => codes(decision.allow, decision.allowReasons),
  'allow-why-false': ({ decision }) => codes(!decision.allow, decision.allowReasons),
  deny: ({ decision }) => String(decision.deny),
  'deny-why-true': ({ decision }) => codes(decision.deny, decision.denyReasons),
  'deny-why-false': ({ decision }) => codes(!decision.deny, decision.denyReasons),
  level: undefined,
  service: undefined,
  time: undefined,
  message: undefined,
};

/** What the log says of a user: the same in each record. */
const textsOf = oncePerObject(({ subject, email }: Identity) => ({
  user: text(subject),
  email: text(email),
}));

function text(value: string | undefined): string | undefined {
  return value === undefined ? undefined : jsonString(cutText(value));
}

/** The parameters of every request that a route accepts by default are logged whole. */
const MAX_PARAMETERS_LENGTH = 8_192;

function parameters(message: JsonRpcMessage | undefined): string | undefined {
  const { toolArguments } = message ?? {};
  if (toolArguments === undefined) return undefined;
  const json = JSON.stringify(toolArguments);
  const cut = cutText(json, MAX_PARAMETERS_LENGTH);
  return cut === json ? json : JSON.stringify(cut);
}

function codes(applies: boolean, reasons: readonly string[]): string | undefined {
  if (!applies) return undefined;
  let list = '';
  // Reason codes need no escapes.
  for (const reason of reasons) list += list === '' ? `"${reason}"` : `,"${reason}"`;
  return `[${list}]`;
}
