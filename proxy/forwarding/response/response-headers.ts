import { UpstreamUnreachableError } from '../../errors/upstream-errors.ts';
import { isGatewayCookie } from '../../http/cookies.ts';
import { nameOf } from '../gateway-cookies.ts';
import { mayHint, mayTrail, ownerOfResponseField } from '../foreign-fields.ts';
import { FieldRules } from '../field-rules.ts';
import { listedInConnection } from '../hop-by-hop.ts';

/**
 * Changes to the header fields of the upstream's response. Names are not checked: whoever makes an
 * overlay keeps framing fields and the gateway's cookies out of it.
 */
export interface HeaderOverlay {
  /** Lower-case names of fields that are not passed on. */
  readonly remove: ReadonlySet<string>;
  /** Flat list of names and values to put at the end. */
  readonly add: readonly string[];
}

/** Header fields as they were received: a flat list of names and values, decoded as ISO 8859-1. */
export type RawFields = readonly string[];

/** Facts that decide which fields the client gets, and how the end of the response is marked. */
export interface Framing {
  readonly status: number;
  /** The response has no body: the response to HEAD, 204, 304. */
  readonly hasNoBody: boolean;
  /** The client understands chunks; an HTTP/1.0 client reads until the end of the connection. */
  readonly canChunk: boolean;
  /** A filter changes the body, so the upstream's `Content-Length` does not apply. */
  readonly isFiltered?: boolean;
  /** Lower-case names of fields that the route lets through. */
  readonly passed?: readonly string[] | undefined;
}

/** Header fields for the client, and what follows from them for the body. */
export interface ResponseHeaders {
  /** Flat list in the upstream's order and spelling, repeated fields repeated. */
  readonly fields: string[];
  /** Only the end of the connection marks the end of the body. */
  readonly endsWithConnection: boolean;
  /** Unencoded server-sent events without a length: the response may end after any of them. */
  readonly isEventStream: boolean;
}

/** How the fields of one name are treated. */
interface Rule {
  readonly lower: string;
  /** What decides whether the client gets them; a name that has rules of its own stands for itself. */
  readonly kind: 'keep' | 'drop' | 'foreign' | SpecialName;
}

type SpecialName = (typeof SPECIAL_NAMES)[number];

const SPECIAL_NAMES = [
  'connection',
  'content-disposition',
  'content-length',
  'content-type',
  'set-cookie',
  'trailer',
  'transfer-encoding',
] as const;

const KIND_OF_OWNER = { gateway: 'drop', foreign: 'foreign', sender: 'keep' } as const;

const rules = new FieldRules((lower): Rule => {
  const special = SPECIAL_NAMES.find((name) => name === lower);
  return { lower, kind: special ?? KIND_OF_OWNER[ownerOfResponseField(lower)] };
});

/** Returns the header fields for the client: the upstream's, without those about its connection. */
export function responseHeaders(
  raw: RawFields,
  framing: Framing,
  overlay?: HeaderOverlay,
): ResponseHeaders {
  const gathered: Gathered = { fields: [], trailers: [], lengthAt: -1, isEvents: false };
  let listed: ReadonlySet<string> | undefined;
  for (let index = 0; index < raw.length; index += 2) {
    const { name, rule } = rules.ruleFor(textAt(raw, index));
    const value = textAt(raw, index + 1);
    if (rule.kind === 'connection') listed = listedInConnection(value);
    if (overlay?.remove.has(rule.lower) === true) continue;
    if (rule.kind === 'keep') gathered.fields.push(name, value);
    else if (isForClient(rule, value, framing)) gather(gathered, rule.kind, name, value);
  }
  const { fields, trailers, lengthAt, isEvents } = gathered;
  const isEndless = lengthAt === -1 && !framing.hasNoBody;
  // Node refuses to announce trailers where they cannot be sent.
  if (isEndless && framing.canChunk) append(fields, trailers);
  const kept = listed === undefined ? fields : withoutListed(fields, listed);
  if (overlay !== undefined) append(kept, overlay.add);
  return {
    fields: kept,
    endsWithConnection: isEndless && !framing.canChunk,
    isEventStream: isEvents && isEndless && !isEncoded(fields),
  };
}

/** Does what `push(...added)` does, without the cost of a list that is read as an iterable. */
function append(fields: string[], added: readonly string[]): void {
  for (const text of added) fields.push(text);
}

interface Gathered {
  readonly fields: string[];
  readonly trailers: string[];
  lengthAt: number;
  isEvents: boolean;
}

const EVENTS = /^text\/event-stream(?:\s*;|\s*$)/i;

function isEncoded(fields: readonly string[]): boolean {
  return fields.some((field, at) => at % 2 === 0 && field.toLowerCase() === 'content-encoding');
}

function gather(gathered: Gathered, kind: Rule['kind'], name: string, value: string): void {
  const { fields, trailers, lengthAt } = gathered;
  if (kind === 'trailer') trailers.push(name, value);
  else if (kind === 'content-disposition' && lengthAt !== -1) {
    // Node re-encodes a Content-Disposition that follows a Content-Length.
    fields.splice(lengthAt, 0, name, value);
    gathered.lengthAt += 2;
  } else {
    if (kind === 'content-length') gathered.lengthAt = fields.length;
    if (kind === 'content-type') gathered.isEvents = EVENTS.test(value);
    fields.push(name, value);
  }
}

/** Returns the fields of an informational response for the client. */
export function informationHeaders(raw: RawFields): string[] {
  const fields: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = textAt(raw, index);
    if (mayHint(name)) fields.push(name, textAt(raw, index + 1));
  }
  return fields;
}

/** Returns the trailer fields for the client. */
export function responseTrailers(raw: RawFields): [string, string][] {
  const trailers: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = textAt(raw, index);
    if (mayTrail(name)) trailers.push([name, textAt(raw, index + 1)]);
  }
  return trailers;
}

const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Returns whether responses with a status have no body (RFC 9110, section 6.4.1). */
export function isBodiless(status: number): boolean {
  return status === NO_CONTENT || status === NOT_MODIFIED;
}

function isForClient(
  { lower, kind }: Rule,
  value: string,
  { status, isFiltered, passed }: Framing,
): boolean {
  switch (kind) {
    case 'keep':
    case 'content-disposition':
    case 'content-type':
    case 'trailer':
      return true;
    case 'drop':
    case 'connection':
      return false;
    case 'foreign':
      return passed?.includes(lower) === true;
    case 'transfer-encoding':
      if (value.toLowerCase() === 'chunked') return false;
      // No TE field was sent, so the client could not decode such a body.
      throw new UpstreamUnreachableError(
        'the upstream used a transfer coding that was not requested',
      );
    case 'set-cookie':
      // Attack: an upstream could plant a session of a different user.
      return !isGatewayCookie(nameOf(value));
    case 'content-length':
      // RFC 9110, section 8.6.
      return status !== NO_CONTENT && isFiltered !== true;
  }
}

function withoutListed(fields: readonly string[], listed: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = textAt(fields, index);
    const lower = name.toLowerCase();
    // RFC 9110, section 7.6.1: content fields are never about a connection. Framing must stay.
    if (lower === 'content-length' || !listed.has(lower))
      kept.push(name, textAt(fields, index + 1));
  }
  return kept;
}

/** Returns a name or a value of a flat list. */
function textAt(fields: RawFields, index: number): string {
  return fields[index] ?? '';
}
