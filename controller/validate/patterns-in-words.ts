import {
  ACCESS_LOG_FIELDS,
  AUTHORIZE_LOG_FIELDS,
  logFieldPattern,
} from '../../shared/snapshot/log-fields.ts';

/** Describes a pattern of a schema in words. */
export function patternInWords(pattern: string): string {
  return WORDS.get(pattern) ?? `must match ${pattern}`;
}

/** Names of most Kubernetes objects (RFC 1123). */
export const DNS_SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
/** Names of namespaces (RFC 1123). */
export const DNS_LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
/** Keys of the data of a Secret or ConfigMap. */
export const VALUE_KEY = '^[-._a-zA-Z0-9]+$';

const ORIGIN_HOST = '[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?';
const IPV6_HOST = '\\[[0-9a-fA-F:.]+\\]';

function logFieldsInWords(fields: readonly string[]): readonly [pattern: string, words: string] {
  return [
    logFieldPattern(fields),
    `must be one of ${fields.join(', ')}, or headers.NAME with the name of a header field`,
  ];
}

const WORDS: ReadonlyMap<string, string> = new Map([
  [
    `^https?://((\\*\\.)?${ORIGIN_HOST}|${IPV6_HOST})(:[0-9]{1,5})?/?$`,
    'must be a scheme, host and optional port such as https://app.example.com, without a path',
  ],
  [
    `^https?://(${ORIGIN_HOST}|${IPV6_HOST})(:[0-9]{1,5})?/?$`,
    'must be a scheme, host and optional port such as https://app.example.com, without a path',
  ],
  [
    '^https?://[-a-zA-Z0-9._:\\[\\]]+(/[!-"$->@-\\[\\]-~]*)?$',
    'must be an http or https URL without user, query and fragment',
  ],
  [
    '^(https?://[!-"$->@-\\[\\]-~]+|kubernetes:///)$',
    'must be an http or https URL without query and fragment, or kubernetes:///',
  ],
  ['^https?://[!-"$->@-\\[\\]-~]+$', 'must be an http or https URL without query and fragment'],
  ['^/', 'must begin with "/"'],
  [
    '^([^/]+(/[^/]+)*|https?://[!-~]+)$',
    'must be the name of a claim, a path such as realm_access/roles, or a URL',
  ],
  ['^[^/]+(/[^/]+)*$', 'must be a path such as value/id'],
  ['^https?://[!-"$-\\[\\]-~]+$', 'must be an http or https URL without fragment'],
  [
    '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
    'must be a duration such as 90s, 1h30m or 500ms (Gateway API, GEP-2257)',
  ],
  [DNS_LABEL, 'must consist of lower-case letters, digits and "-"'],
  [DNS_SUBDOMAIN, 'must consist of lower-case letters, digits, "-" and "."'],
  [
    '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
    'must be a domain such as example.com or *.example.com, in lower case',
  ],
  [VALUE_KEY, 'must consist of letters, digits, "-", "_" and "."'],
  ['^[-._~a-zA-Z0-9]+$', 'must consist of letters, digits, "-", ".", "_" and "~"'],
  ['^[\\x21\\x23-\\x5B\\x5D-\\x7E]+$', 'must not contain spaces, quotes or backslashes'],
  ['^[A-Za-z0-9][-._A-Za-z0-9]*$', 'must be the name of a header field such as X-Real-IP'],
  logFieldsInWords(AUTHORIZE_LOG_FIELDS),
  logFieldsInWords(ACCESS_LOG_FIELDS),
  [
    '^https?://[!-"$->A-\\[\\]-~]+$',
    'must be an http or https URL without user, query and fragment',
  ],
  ['^https?://[!-"$-?A-\\[\\]-~]+$', 'must be an http or https URL without user and fragment'],
  [
    '^[0-9]+(\\.[0-9]+)?([eE]-?[0-9]{1,3})?$',
    'must be a number from 0 to 1 in quotes, such as "0.25"',
  ],
  ['^[0-9a-fA-F.:]+/[0-9]{1,3}$', 'must be an address range such as 10.20.0.0/16'],
]);
