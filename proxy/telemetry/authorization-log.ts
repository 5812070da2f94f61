import { cutText } from '../../shared/telemetry/cut-text.ts';
import { jsonString } from '../../shared/telemetry/json-string.ts';
import { oncePerTime } from '../../shared/telemetry/once-per-time.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { AUTHORIZE_LOG_FIELDS, type AuthorizeLogField } from '../../shared/snapshot/log-fields.ts';
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
  #selection = select([]);

  constructor(lines: LineWriter, now: () => number = Date.now) {
    this.#lines = lines;
    this.#now = now;
    this.#start = oncePerTime(startOfLine);
  }

  write(record: AuthorizationRecord, fields: readonly AuthorizeLogField[]): void {
    const { requestId, identity, message, decision } = record;
    // Settings rarely change, so the previous selection is nearly always the current one.
    if (this.#selection.fields !== fields) this.#selection = select(fields);
    const { ofMessage, hasRequestId, ofUser, ofDecision } = this.#selection;
    let line = this.#start(this.#now());
    if (message !== undefined) line += ofMessage(message);
    // Made by the gateway, of characters that need no escapes.
    if (hasRequestId) line += `,"request-id":"${requestId}"`;
    if (identity !== undefined) line += ofUser(identity);
    this.#lines.write(`${line}${ofDecision(decision)}}`);
  }
}

function startOfLine(now: number): string {
  const time = new Date(now).toISOString();
  return `{"level":"info","service":"authorize","time":"${time}","message":"authorize check"`;
}

/** The selected members, in the specification's order. */
interface Selection {
  readonly fields: readonly AuthorizeLogField[];
  readonly ofMessage: (message: JsonRpcMessage) => string;
  readonly hasRequestId: boolean;
  readonly ofUser: (identity: Identity) => string;
  readonly ofDecision: (decision: Decision) => string;
}

/** What the log says of a user, and of a decision, is the same in each record about the same object. */
function select(fields: readonly AuthorizeLogField[]): Selection {
  return {
    fields,
    ofMessage: membersOf(MESSAGE, fields),
    hasRequestId: fields.includes('request-id'),
    ofUser: oncePerObject(membersOf(USER, fields)),
    ofDecision: oncePerObject(membersOf(DECISION, fields)),
  };
}

/** Functions for values as JSON, in the specification's order. */
type Values<Subject> = Readonly<
  Partial<Record<AuthorizeLogField, (subject: Subject) => string | undefined>>
>;

const MESSAGE: Values<JsonRpcMessage> = {
  'mcp-method': ({ method }) => text(method),
  'mcp-tool': ({ toolName }) => text(toolName),
  'mcp-tool-parameters': parameters,
};

const USER: Values<Identity> = {
  user: ({ subject }) => text(subject),
  email: ({ email }) => text(email),
};

const DECISION: Values<Decision> = {
  allow: ({ allow }) => String(allow),
  'allow-why-true': ({ allow, allowReasons }) => codes(allow, allowReasons),
  'allow-why-false': ({ allow, allowReasons }) => codes(!allow, allowReasons),
  deny: ({ deny }) => String(deny),
  'deny-why-true': ({ deny, denyReasons }) => codes(deny, denyReasons),
  'deny-why-false': ({ deny, denyReasons }) => codes(!deny, denyReasons),
};

/** Returns a function for the members of a line that have a value, each with a comma before it. */
function membersOf<Subject>(
  values: Values<Subject>,
  fields: readonly AuthorizeLogField[],
): (subject: Subject) => string {
  const members = AUTHORIZE_LOG_FIELDS.flatMap((field) => {
    const valueOf = fields.includes(field) ? values[field] : undefined;
    return valueOf === undefined ? [] : [{ start: `,${JSON.stringify(field)}:`, valueOf }];
  });
  return (subject) => {
    let line = '';
    for (const { start, valueOf } of members) {
      const value = valueOf(subject);
      if (value !== undefined) line += start + value;
    }
    return line;
  };
}

function text(value: string | undefined): string | undefined {
  return value === undefined ? undefined : jsonString(cutText(value));
}

/** The parameters of every request that a route accepts by default are logged whole. */
const MAX_PARAMETERS_LENGTH = 8_192;

function parameters({ toolArguments }: JsonRpcMessage): string | undefined {
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
