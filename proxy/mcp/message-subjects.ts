import { InvalidMessageError } from '../errors/request-errors.ts';
import { findCaseVariant, member, type JsonObject } from '../json/json-object.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import { INVALID_PARAMS } from './json-rpc-codes.ts';
import type { JsonRpcMessage } from './json-rpc.ts';

/** The resources and the prompt that a message is about. */
export interface MessageSubjects {
  /** URIs; of a completion, it may be a template. */
  readonly resources: readonly string[];
  readonly prompt: string | undefined;
}

const ABOUT_A_RESOURCE = ['resources/read', 'resources/subscribe', 'resources/unsubscribe'];

/** Longer than any in use: every criterion of a policy may read it. */
const MAX_URI_LENGTH = 2_048;
const MAX_NAME_LENGTH = 256;
const MAX_RESOURCES = 64;
const MAX_LENGTH_OF_ALL = 16_384;

/** `.` and `..` in any spelling: servers resolve them or not, and count from different places. */
const DOT_SEGMENT = /(?:^|[/\\:]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\?#;]|%2f|%5c|%3b)/i;

const NOTHING: MessageSubjects = { resources: [], prompt: undefined };

/**
 * Returns what a message is about. Refuses one that does not say it in the form of MCP, so that policy
 * decides on what the server does.
 */
export function subjectsOf({ method, params, id }: JsonRpcMessage): MessageSubjects {
  const reader = new SubjectReader(id);
  if (method === undefined) return NOTHING;
  if (ABOUT_A_RESOURCE.includes(method)) return { ...NOTHING, resources: [reader.uri(params)] };
  switch (method) {
    case 'prompts/get':
      return { ...NOTHING, prompt: reader.name(params) };
    case 'completion/complete':
      return reader.completed(params);
    case 'subscriptions/listen':
      return { ...NOTHING, resources: reader.subscribed(params) };
    default:
      return NOTHING;
  }
}

/** Reads the members of one message. */
class SubjectReader {
  readonly #id: JsonRpcMessage['id'];

  constructor(id: JsonRpcMessage['id']) {
    this.#id = id;
  }

  uri(object: JsonObject): string {
    return this.#checkedUri(member(object, 'uri'), 'uri');
  }

  name(object: JsonObject): string {
    return this.#checked(member(object, 'name'), 'name', MAX_NAME_LENGTH);
  }

  /** A completion is about the prompt or the template whose argument it completes. */
  completed(params: JsonObject): MessageSubjects {
    const ref = this.#object(params, 'ref');
    const type = member(ref, 'type');
    this.#refuseCaseVariants(ref, ['type', 'name', 'uri']);
    if (type === 'ref/prompt') return { ...NOTHING, prompt: this.name(ref) };
    if (type === 'ref/resource') return { ...NOTHING, resources: [this.uri(ref)] };
    throw this.#invalid('"type" of "ref" is neither ref/prompt nor ref/resource');
  }

  /** MCP 2026-07-28, Subscriptions. */
  subscribed(params: JsonObject): readonly string[] {
    this.#refuseCaseVariants(params, ['notifications']);
    if (member(params, 'notifications') === undefined) return [];
    const filter = this.#object(params, 'notifications');
    this.#refuseCaseVariants(filter, ['resourceSubscriptions']);
    const uris = member(filter, 'resourceSubscriptions') ?? [];
    if (!Array.isArray(uris) || uris.length > MAX_RESOURCES) {
      throw this.#invalid(
        `"resourceSubscriptions" is not a list of up to ${String(MAX_RESOURCES)}`,
      );
    }
    const checked = uris.map((uri: unknown) => this.#checkedUri(uri, 'resourceSubscriptions'));
    if (checked.join('').length <= MAX_LENGTH_OF_ALL) return checked;
    throw this.#invalid(
      `"resourceSubscriptions" is longer than ${String(MAX_LENGTH_OF_ALL)} characters`,
    );
  }

  #object(parent: JsonObject, name: string): JsonObject {
    this.#refuseCaseVariants(parent, [name]);
    const value = member(parent, name);
    if (!isRecord(value)) throw this.#invalid(`"${name}" is not an object`);
    return value;
  }

  #checkedUri(value: unknown, name: string): string {
    const uri = this.#checked(value, name, MAX_URI_LENGTH);
    if (uri.includes('%00')) throw this.#invalid(`"${name}" has an encoded U+0000`);
    if (DOT_SEGMENT.test(uri)) throw this.#invalid(`"${name}" has a . or .. segment`);
    return uri;
  }

  /** A lone surrogate has no UTF-8, and C ends a text at U+0000. */
  #checked(value: unknown, name: string, maxLength: number): string {
    if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) {
      throw this.#invalid(`"${name}" is not a text`);
    }
    if (value.length <= maxLength) return value;
    throw this.#invalid(`"${name}" is longer than ${String(maxLength)} characters`);
  }

  #refuseCaseVariants(object: JsonObject, names: readonly string[]): void {
    const name = findCaseVariant(object, names);
    if (name !== undefined) throw this.#invalid(`a key differs from "${name}" in case only`);
  }

  #invalid(message: string): InvalidMessageError {
    return new InvalidMessageError(message, { code: INVALID_PARAMS, id: this.#id ?? null });
  }
}
