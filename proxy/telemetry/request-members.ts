import type { LoggedHeader } from '../../shared/snapshot/log-fields.ts';
import { cutText } from '../../shared/telemetry/cut-text.ts';
import { jsonString } from '../../shared/telemetry/json-string.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { isNamed } from '../http/is-named.ts';

/** Makes the value of a field as JSON; undefined if the subject does not have it. */
export type ValueOf<Subject> = (subject: Subject) => string | undefined;

/** Returns a function for the members of a line that have a value, each with a comma before it. */
export function lineMembers<Subject>(
  values: readonly (readonly [field: string, value: ValueOf<Subject>])[],
): (subject: Subject) => string {
  const members = values.map(([field, valueOf]) => ({
    start: `,${JSON.stringify(field)}:`,
    valueOf,
  }));
  return (subject) => {
    let line = '';
    for (const { start, valueOf } of members) {
      const value = valueOf(subject);
      if (value !== undefined) line += start + value;
    }
    return line;
  };
}

/** Returns a text as JSON, cut to what a log record may have. */
export function loggedText(value: string): string;
export function loggedText(value: string | undefined): string | undefined;
export function loggedText(value: string | undefined): string | undefined {
  return value === undefined ? undefined : jsonString(cutText(value));
}

/** The fields of a request that both the authorization log and the access log can have. */
export const REQUEST_VALUES = {
  method: ({ method }) => loggedText(method),
  host: ({ authority }) => loggedText(authority),
  path: ({ path }) => loggedText(path),
  query: ({ query }) => (query === '' ? undefined : loggedText(namesOf(query))),
  ip: ({ remoteAddress }) => loggedText(remoteAddress),
  'trace-id': ({ trace }) => loggedText(trace?.context.traceId),
} satisfies Readonly<Record<string, ValueOf<GatewayRequest>>>;

/** The whole query. It may have codes and tokens, so it is for requests to routes only. */
export function queryValues({ query }: GatewayRequest): string | undefined {
  return query === '' ? undefined : loggedText(query.slice(1));
}

/**
 * Returns the names of the parameters of a query, as they were sent. A parameter without `=` is left out: it may be
 * all value, such as a token.
 */
function namesOf(query: string): string {
  const names = query
    .slice(1)
    .split('&')
    .flatMap((parameter) => {
      const end = parameter.indexOf('=');
      return end === -1 ? [] : [parameter.slice(0, end)];
    });
  return [...new Set(names)].join('&');
}

const HEADERS = 'headers.';

/** Returns whether a field of a log is a header field of the request. */
export function isHeader(field: string): field is LoggedHeader {
  return field.startsWith(HEADERS);
}

/** Returns the value of a field such as `headers.User-Agent`. */
export function headerValue(field: LoggedHeader): ValueOf<GatewayRequest> {
  const name = field.slice(HEADERS.length).toLowerCase();
  return ({ message: { rawHeaders } }) => loggedText(linesOf(rawHeaders, name));
}

/** Returns the value of a field, with all of its lines (RFC 9110, section 5.3). */
function linesOf(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!isNamed(rawHeaders[index] ?? '', name)) continue;
    const line = rawHeaders[index + 1] ?? '';
    value = value === undefined ? line : `${value}, ${line}`;
  }
  return value;
}
