import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import {
  BadRequestError,
  ExpectationFailedError,
  PathTooLongError,
} from '../errors/request-errors.ts';
import type { ClientAddressOf } from './client-address.ts';
import { distrust } from './distrust.ts';
import { hasUnknownExpectation } from './expect-continue.ts';
import type { GatewayRequest } from './gateway-request.ts';
import type { RequestMessage } from './request-message.ts';

/**
 * Parses the head of a request, and refuses what two HTTP implementations could read differently.
 * Everything else is kept byte for byte.
 *
 * Throws `BadRequestError`, `PathTooLongError` or `ExpectationFailedError`; the connection is then closed after the
 * answer.
 */
export function parseRequest(
  message: RequestMessage,
  id: string,
  clientAddressOf: ClientAddressOf,
  trace?: Trace,
): GatewayRequest {
  try {
    return parse(message, id, clientAddressOf, trace);
  } catch (error) {
    distrust(message);
    throw error;
  }
}

function parse(
  message: RequestMessage,
  id: string,
  clientAddressOf: ClientAddressOf,
  trace: Trace | undefined,
): GatewayRequest {
  const { method = '', url = '' } = message;
  if (method === 'TRACE') {
    // RFC 9110, section 9.3.8: the answer would show the client credentials that only the upstream
    // should get.
    throw new BadRequestError('trace-refused', 'TRACE requests are not forwarded');
  }
  const authority = readAuthority(message);
  if (hasUnknownExpectation(message)) throw new ExpectationFailedError();
  const target = url.startsWith('/') ? url : originForm(url, authority);
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  if (path.length > MAX_PATH_LENGTH) throw new PathTooLongError(MAX_PATH_LENGTH);
  if (!PLAIN_PATH.test(path)) checkPath(path);
  if (UNFIT_FOR_QUERY.test(query)) throw malformedTarget();
  const remoteAddress = clientAddressOf(message);
  return { id, method, path, query, authority, remoteAddress, message, trace };
}

const MAX_HEADERS = 256;

/** RFC 9110, section 4.1 recommends that URIs of 8,000 octets are supported. */
const MAX_PATH_LENGTH = 8_000;

/** RFC 1035, section 2.3.4: a name has at most 253 characters, and each label at most 63. */
const MAX_NAME_LENGTH = 253;
const MAX_AUTHORITY_LENGTH = MAX_NAME_LENGTH + ':65535'.length;
const LABEL = String.raw`[a-z\d_-]{1,63}`;

/** RFC 9110, section 7.2; names, IPv4 and bracketed IPv6 addresses, with a port or without. */
const AUTHORITY = new RegExp(
  String.raw`^(${LABEL}(?:\.${LABEL})*\.?|\[[a-f\d:.]{2,45}\])(?::\d{1,5})?$`,
);

/**
 * Checks the fields that name the host and the length of a message. Reads the raw list, because Node
 * joins or drops repeated fields.
 */
function readAuthority({ rawHeaders, httpVersion }: RequestMessage): string {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new BadRequestError('too-many-headers', 'the request has too many header fields');
  }
  let host: string | undefined;
  let framings = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // The lengths of the names below: any other name is skipped without a lower-case copy.
    if (name.length !== 4 && name.length !== 14 && name.length !== 17) continue;
    const value = rawHeaders[index + 1] ?? '';
    switch (name.toLowerCase()) {
      case 'host':
        if (host !== undefined) {
          throw new BadRequestError('several-host-headers', 'the request names several hosts');
        }
        host = value.toLowerCase();
        break;
      case 'content-length':
        framings += 1;
        break;
      case 'transfer-encoding':
        framings += 1;
        checkTransferEncoding(value, httpVersion);
        break;
      default:
    }
  }
  if (framings > 1) {
    // RFC 9112, section 6.3: one recipient may read a request where another reads the body.
    throw new BadRequestError(
      'ambiguous-framing',
      'the request has several fields that frame its body',
    );
  }
  if (host === undefined) throw new BadRequestError('no-host', 'the request names no host');
  if (!isAuthority(host)) throw new BadRequestError('malformed-host', 'the host is malformed');
  return host;
}

/** Attack: a Host of thousands of labels is looked up, logged and quoted by everything after this. */
function isAuthority(host: string): boolean {
  if (host.length > MAX_AUTHORITY_LENGTH || !AUTHORITY.test(host)) return false;
  const colon = host.lastIndexOf(':');
  return host.length <= MAX_NAME_LENGTH || (colon !== -1 && colon <= MAX_NAME_LENGTH);
}

/** Node accepts any list that ends in `chunked`; recipients read the rest of it differently. */
function checkTransferEncoding(value: string, httpVersion: string): void {
  if (value.toLowerCase() !== 'chunked' || httpVersion === '1.0') {
    throw new BadRequestError(
      'transfer-encoding',
      'only the chunked transfer coding is understood',
    );
  }
}

/** RFC 9112, section 3.2.2: absolute form is accepted only with the host of `Host`. */
function originForm(url: string, authority: string): string {
  const [, named, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (named === undefined) throw malformedTarget();
  if (named.toLowerCase() !== authority) {
    throw new BadRequestError(
      'authority-mismatch',
      'the request target and Host name different hosts',
    );
  }
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Segments of harmless characters that do not start with a dot: nearly every path. */
const PLAIN_PATH = /^(?:\/(?!\.)[\w\-.~!$&'()*+,;=:@]*)+$/;

// eslint-disable-next-line no-control-regex -- control characters are what it finds
const UNFIT_FOR_PATH = /[\x00-\x20\x7f-\uffff\\#]/;

/** Browsers send backslashes and bare percent signs in queries; policy ignores queries. */
// eslint-disable-next-line no-control-regex -- control characters are what it finds
const UNFIT_FOR_QUERY = /[\x00-\x20\x7f#]/;

/**
 * `.` and `..` in any spelling, also where an encoded separator or a path parameter hides the end of
 * the segment from some recipients (`/..;/`, `/..%2f`).
 */
const DOT_SEGMENT = /(?:\/|%2f|%5c)(?:\.|%2e){1,2}(?:$|\/|;|%2f|%5c|%3b)/i;

function checkPath(path: string): void {
  if (UNFIT_FOR_PATH.test(path)) throw malformedTarget();
  if (/%(?![\da-f]{2})|%00/i.test(path)) {
    throw new BadRequestError('malformed-percent-encoding', 'the path is not properly encoded');
  }
  if (DOT_SEGMENT.test(path)) {
    throw new BadRequestError('dot-segment', 'the path has a . or .. segment');
  }
}

function malformedTarget(): BadRequestError {
  return new BadRequestError('malformed-target', 'the request target is malformed');
}

/**
 * Empty segments, percent-encoded separators and unreserved characters, and encodings in lower case
 * (RFC 3986, section 6.2.2): some servers read them as the plain spelling, some do not.
 */
const AMBIGUOUS = /\/\/|%(?:2[DEF]|3\d|[46][1-9A-F]|5[\dACF]|7[\dAE]|[a-f].|.[a-f])/;

/**
 * Returns whether an upstream may read a path as a different one. Where the path decides who may do
 * what, such a path is refused.
 */
export function ambiguousPath(path: string): boolean {
  return AMBIGUOUS.test(path);
}
