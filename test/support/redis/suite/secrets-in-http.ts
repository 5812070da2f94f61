import { CLIENT_ADDRESS, SHORTEST_SECRET, type Secret } from './secret.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Parameters of URLs and forms. */
const PARAMETERS = [
  'access_token',
  ...['assertion', 'client_assertion', 'client_secret', 'code', 'code_verifier', 'nonce', 'seal'],
  ...['refresh_token', 'request', 'sign_in_code', 'state', 'token'],
];

/** Members of JSON objects. */
const MEMBERS = [
  ...['access_token', 'client_secret', 'id_token', 'nonce', 'refresh_token'],
  'registration_access_token',
];

/** Members that identify a user; `name` does so only beside a `sub`. */
const PERSONAL = ['email', 'name', 'preferred_username'];

const JWT = /eyJ[\w-]+\.[\w-]+\.[\w-]*/g;
const PARAMETER = new RegExp(`[?&#](${PARAMETERS.join('|')})=([^&#\\s"'<>]+)`, 'g');

/** Secrets in the head of a request or response. */
export function secretsOfHeaders(headers: Fields): readonly Secret[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((item) => secretsOfField(name.toLowerCase(), String(item))),
  );
}

/** Secrets among the parameters of a URL, or of all URLs in a text. */
export function secretsOfUrl(text: string): readonly Secret[] {
  return [...text.matchAll(PARAMETER)].flatMap(([, name = '', value = '']) =>
    spellings(`parameter ${name}`, value),
  );
}

/**
 * Parameters with words of OAuth and URLs of servers. Spans have them too, of other sources: which error a
 * server answered with, and which server was called.
 */
const OF_PROTOCOLS = ['connect_error', 'error', 'iss', 'resource', 'response_type', 'scope'];

/** The values of all parameters of a target that are chosen by its sender. */
export function queryOfTarget(target: string): readonly Secret[] {
  const mark = target.indexOf('?');
  if (mark === -1) return [];
  return [...new URLSearchParams(target.slice(mark + 1))]
    .filter(([name, value]) => !OF_PROTOCOLS.includes(name) && !REPEATED.test(value))
    .map(([name, value]) => ({ kind: `query ${name}`, value, isQuery: true }));
}

/** Tests of lengths send one character many times. */
const REPEATED = /^(.)\1*$/;

/** Secrets in a body, if it is JSON or a form. */
export function secretsOfBody(body: string): readonly Secret[] {
  const json = parseJson(body);
  return json === undefined ? secretsOfUrl(`?${body}`) : secretsOfJson(json);
}

function secretsOfField(name: string, value: string): readonly Secret[] {
  switch (name) {
    case 'cookie':
      return value.split('; ').flatMap(secretsOfCookie);
    case 'set-cookie':
      return secretsOfCookie(value.split(';', 1)[0] ?? '');
    case 'authorization':
      return secretsOfAuthorization(value);
    case 'location':
    case 'refresh':
    case 'referer':
      return secretsOfUrl(value);
    case 'x-forwarded-for':
      return value
        .split(/,\s*/)
        .map((address) => ({ kind: CLIENT_ADDRESS, value: address, isLoggable: true }));
    default:
      return secretsOfJwts(value);
  }
}

function secretsOfCookie(pair: string): readonly Secret[] {
  const separator = pair.indexOf('=');
  return spellings(`cookie ${pair.slice(0, separator)}`, pair.slice(separator + 1));
}

/** RFC 7617: the user ID and password of Basic; RFC 6749, section 2.3.1: form-encoded. */
function secretsOfAuthorization(value: string): readonly Secret[] {
  const [scheme = '', credentials = ''] = value.split(' ', 2);
  const whole = { kind: `${scheme} credentials`, value: credentials };
  if (scheme.toLowerCase() !== 'basic') return [whole, ...secretsOfJwts(credentials)];
  const decoded = Buffer.from(credentials, 'base64').toString();
  return [whole, ...spellings('client secret', decoded.slice(decoded.indexOf(':') + 1))];
}

function secretsOfJson(value: unknown): readonly Secret[] {
  if (typeof value !== 'object' || value === null) return [];
  const hasSubject = 'sub' in value;
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member !== 'string') return secretsOfJson(member);
    return [...secretsOfMember(name, member, hasSubject), ...secretsOfJwts(member)];
  });
}

function secretsOfMember(name: string, value: string, hasSubject: boolean): readonly Secret[] {
  if (MEMBERS.includes(name)) return [{ kind: `member ${name}`, value }];
  if (name === 'client_name') return [{ kind: 'name of a client', value, isLoggable: true }];
  if (!hasSubject || !PERSONAL.includes(name)) return [];
  return [{ kind: `${name} of a user`, value, isLoggable: true }];
}

/** JWTs, and the user's data in their payloads. */
function secretsOfJwts(text: string): readonly Secret[] {
  return [...text.matchAll(JWT)].flatMap(([token]) => {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    return [{ kind: 'JWT', value: token }, ...secretsOfJson(parseJson(payload))];
  });
}

/** A value as it was sent, and decoded. */
function spellings(kind: string, value: string): readonly Secret[] {
  return [...new Set([value, decode(value)])]
    .filter((text) => text.length >= SHORTEST_SECRET)
    .map((text) => ({ kind, value: text }));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
