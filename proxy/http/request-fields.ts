import type { IncomingHttpHeaders } from 'node:http';

import { isNamed } from './is-named.ts';

/** The lines of a field that was sent several times: the first counts, or they are joined by this text. */
type Repeated = 'first' | ', ' | '; ';

/** The header fields of requests that the gateway reads, by lower-case name. Node repeats fields so too. */
const REPEATED = {
  accept: ', ',
  'access-control-request-headers': ', ',
  'access-control-request-method': ', ',
  authorization: 'first',
  connection: ', ',
  'content-encoding': ', ',
  'content-length': 'first',
  'content-type': 'first',
  cookie: '; ',
  expect: ', ',
  host: 'first',
  'last-event-id': ', ',
  'mcp-protocol-version': ', ',
  'mcp-session-id': ', ',
  origin: ', ',
  'sec-fetch-dest': ', ',
  'sec-fetch-mode': ', ',
  'sec-fetch-site': ', ',
  'sec-fetch-user': ', ',
  'sec-purpose': ', ',
  'service-worker': ', ',
  'service-worker-navigation-preload': ', ',
  // Node reads it for HTTP/1.0.
  te: ', ',
  trailer: ', ',
  'transfer-encoding': ', ',
  upgrade: ', ',
  'user-agent': 'first',
  'x-forwarded-for': ', ',
  'x-forwarded-proto': ', ',
} as const satisfies Readonly<Record<string, Repeated>>;

/** The header fields of a request that the gateway reads; others have no place here. */
export type RequestFields = Readonly<Partial<Pick<IncomingHttpHeaders, keyof typeof REPEATED>>>;

/** Makes the fields of a flat list of names and values. */
export function requestFields(rawHeaders: readonly string[]): RequestFields {
  // The accessors are defined by the table of names.
  return new FieldsOfList(rawHeaders) as RequestFields;
}

/**
 * Looks a field up when it is read. That costs less than an object of all fields for what is read of most
 * requests. Attack: an object of 3,000 fields cost as much as ten requests, before they could be counted.
 */
class FieldsOfList {
  readonly #list: readonly string[];

  constructor(list: readonly string[]) {
    this.#list = list;
  }

  static {
    for (const [name, repeated] of Object.entries(REPEATED)) {
      Object.defineProperty(this.prototype, name, {
        get(this: FieldsOfList) {
          return valueIn(this.#list, name, repeated);
        },
      });
    }
  }
}

function valueIn(list: readonly string[], name: string, repeated: Repeated): string | undefined {
  let value: string | undefined;
  for (let index = 0; index < list.length; index += 2) {
    const field = list[index];
    // Attack: a head of thousands of lines, which is read a dozen times. Most of them cost this comparison only.
    if (field?.length === name.length && isNamed(field, name)) {
      const line = list[index + 1] ?? '';
      if (repeated === 'first') return line;
      value = value === undefined ? line : value + repeated + line;
    }
  }
  return value;
}
