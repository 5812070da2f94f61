import { cutText } from '../../shared/telemetry/cut-text.ts';
import { inOnePiece } from '../../shared/telemetry/in-one-piece.ts';
import { logJson } from '../../shared/telemetry/json-string.ts';
import { oncePerText } from '../../shared/telemetry/once-per-text.ts';
import { oncePerTime } from '../../shared/telemetry/once-per-time.ts';
import type { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { AUTHORIZE_LOG_FIELDS, type AuthorizeLogField } from '../../shared/snapshot/log-fields.ts';
import { identityOf, type Caller } from '../authentication/caller.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import { hashToken } from '../crypto/tokens.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Identity, UserSession } from '../records/session.ts';
import type { JsonRpcMessage } from '../mcp/json-rpc.ts';
import type { Decision } from '../policy/decision.ts';
import {
  headerValue,
  isHeader,
  loggedText,
  lineMembers,
  queryValues,
  REQUEST_VALUES,
  type ValueOf,
} from './request-members.ts';

/** A request that was authorized or refused. */
export interface DecidedRequest {
  readonly request: GatewayRequest;
  readonly route: { readonly compiled: { readonly name: string } };
  readonly caller: Caller;
  /** On MCP server routes, the body of a POST; without a message on paths that are not inspected. */
  readonly body: { readonly message: JsonRpcMessage | undefined } | undefined;
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

  write(checked: DecidedRequest, decision: Decision, fields: readonly AuthorizeLogField[]): void {
    // Settings rarely change, so the previous selection is nearly always the current one.
    if (this.#selection.fields !== fields) this.#selection = select(fields);
    const { ofMessage, hasRequestId, ofUser, ofDecision, ofRequest } = this.#selection;
    const message = checked.body?.message;
    const identity = identityOf(checked.caller);
    // Each part costs as much as the next, however long it is: so there are few.
    let line = this.#start(this.#now());
    if (message !== undefined) line += ofMessage(message);
    // Made by the gateway, of characters that need no escapes.
    if (hasRequestId) line += `,"request-id":"${checked.request.id}"`;
    if (identity !== undefined) line += ofUser(identity);
    line += ofDecision(decision);
    if (ofRequest !== undefined) line += ofRequest(checked);
    this.#lines.write(line);
  }
}

function startOfLine(now: number): string {
  const time = new Date(now).toISOString();
  return inOnePiece(
    `{"level":"info","service":"authorize","time":"${time}","message":"authorize check"`,
  );
}

/** The selected members: those of the specification in its order, then the others. */
interface Selection {
  readonly fields: readonly AuthorizeLogField[];
  readonly ofMessage: (message: JsonRpcMessage) => string;
  readonly hasRequestId: boolean;
  readonly ofUser: (identity: Identity) => string;
  readonly ofDecision: (decision: Decision) => string;
  /** Absent if no such field is selected: then the decision ends the line. */
  readonly ofRequest: ((checked: DecidedRequest) => string) | undefined;
}

const END = '}\n';

/** What the log says of a user, and of a decision, is the same in each record about the same object. */
function select(fields: readonly AuthorizeLogField[]): Selection {
  const ofUser = lineMembers(selected(USER, fields));
  const ofDecision = lineMembers(selected(DECISION, fields));
  const ofRequest = lineMembers([...selected(REQUEST, fields), ...selectedHeaders(fields)]);
  const isLast = !fields.some((field) => field in REQUEST || isHeader(field));
  return {
    fields,
    ofMessage: ofMessage(fields),
    hasRequestId: fields.includes('request-id'),
    ofUser: oncePerObject((identity) => inOnePiece(ofUser(identity))),
    ofDecision: oncePerObject((decision) => inOnePiece(ofDecision(decision) + (isLast ? END : ''))),
    ofRequest: isLast ? undefined : (checked) => ofRequest(checked) + END,
  };
}

/** Methods and tools of most requests are few. */
function ofMessage(fields: readonly AuthorizeLogField[]): (message: JsonRpcMessage) => string {
  const ofMethod = textMember('mcp-method', fields);
  const ofTool = textMember('mcp-tool', fields);
  const hasParameters = fields.includes('mcp-tool-parameters');
  return ({ method, toolName, toolArguments }) => {
    let members = method === undefined ? '' : ofMethod(method);
    if (toolName !== undefined) members += ofTool(toolName);
    if (!hasParameters || toolArguments === undefined) return members;
    return `${members},"mcp-tool-parameters":${parameters(toolArguments)}`;
  };
}

/** Returns a function for the member of a field; it returns an empty text if that is not selected. */
function textMember(
  field: AuthorizeLogField,
  fields: readonly AuthorizeLogField[],
): (text: string) => string {
  if (!fields.includes(field)) return () => '';
  return oncePerText((text) => inOnePiece(`,"${field}":${loggedText(text)}`));
}

/** Functions for values, by field. */
type Values<Subject> = Readonly<Partial<Record<AuthorizeLogField, ValueOf<Subject>>>>;

type Members<Subject> = (readonly [AuthorizeLogField, ValueOf<Subject>])[];

/** Returns the values that are selected, in the order of all fields. */
function selected<Subject>(
  values: Values<Subject>,
  fields: readonly AuthorizeLogField[],
): Members<Subject> {
  return AUTHORIZE_LOG_FIELDS.flatMap((field): Members<Subject> => {
    const value = fields.includes(field) ? values[field] : undefined;
    return value === undefined ? [] : [[field, value]];
  });
}

function selectedHeaders(fields: readonly AuthorizeLogField[]): Members<DecidedRequest> {
  return fields.filter(isHeader).map((field) => [field, ofRequest(headerValue(field))]);
}

function ofRequest(value: ValueOf<GatewayRequest>): ValueOf<DecidedRequest> {
  return ({ request }) => value(request);
}

const USER: Values<Identity> = {
  user: ({ subject }) => loggedText(subject),
  email: ({ email }) => loggedText(email),
};

const DECISION: Values<Decision> = {
  allow: ({ allow }) => String(allow),
  'allow-why-true': ({ allow, allowReasons }) => codes(allow, allowReasons),
  'allow-why-false': ({ allow, allowReasons }) => codes(!allow, allowReasons),
  deny: ({ deny }) => String(deny),
  'deny-why-true': ({ deny, denyReasons }) => codes(deny, denyReasons),
  'deny-why-false': ({ deny, denyReasons }) => codes(!deny, denyReasons),
};

const REQUEST: Values<DecidedRequest> = {
  method: ofRequest(REQUEST_VALUES.method),
  host: ofRequest(REQUEST_VALUES.host),
  path: ofRequest(REQUEST_VALUES.path),
  query: ofRequest(REQUEST_VALUES.query),
  'query-values': ofRequest(queryValues),
  ip: ofRequest(REQUEST_VALUES.ip),
  route: ({ route }) => loggedText(route.compiled.name),
  'session-id': ({ caller }) => (caller.kind === 'user' ? sessionId(caller.session) : undefined),
  'trace-id': ofRequest(REQUEST_VALUES['trace-id']),
};

/** The id of a session opens nothing, but stores find the session by it. */
const sessionId = oncePerObject(({ id }: UserSession) => loggedText(hashToken(id)));

/** The parameters of every request that a route accepts by default are logged whole. */
const MAX_PARAMETERS_LENGTH = 8_192;

function parameters(toolArguments: object): string {
  const json = logJson(toolArguments);
  const cut = cutText(json, MAX_PARAMETERS_LENGTH);
  return cut === json ? json : logJson(cut);
}

function codes(applies: boolean, reasons: readonly string[]): string | undefined {
  if (!applies) return undefined;
  let list = '';
  // Reason codes need no escapes.
  for (const reason of reasons) list += list === '' ? `"${reason}"` : `,"${reason}"`;
  return `[${list}]`;
}
