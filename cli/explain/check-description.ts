import { METHODS } from 'node:http';
import { isIP } from 'node:net';

import type {
  DescriptionProblem,
  RequestDescription,
  UserDescription,
} from './request-description.ts';

type RequestProblem = DescriptionProblem<RequestDescription>;
type Member = RequestProblem['member'];

/** Returns everything wrong with the description of a request, whatever the routes are. */
export function requestProblems(described: RequestDescription): readonly RequestProblem[] {
  return [...formProblems(described), ...conflicts(described)];
}

/** Returns everything wrong with the description of a user. */
export function userProblems({
  user,
  email,
  claims = {},
}: UserDescription): readonly DescriptionProblem<UserDescription>[] {
  const { sub } = claims;
  if (sub !== undefined && (typeof sub !== 'string' || sub === '')) {
    return [{ member: 'claims', message: '"sub" is not a text' }];
  }
  if (user !== undefined && sub !== undefined && sub !== user) {
    return [{ member: 'claims', message: '"sub" is another user' }];
  }
  if (user === undefined && email === undefined && sub === undefined) {
    return [
      { member: 'user', message: 'is required, or an email address, or "sub" in the claims' },
    ];
  }
  return [];
}

/** `http://` or `https://`, a host with or without a port, and a path with or without a query. */
export const URL_PARTS = /^https?:\/\/([^/?#\s]+)((?:\/[^#\s]*)?)$/i;

const ROUTE_NAME = /^(?:[^/\s]+\/)?[^/\s]+$/;
/** RFC 3339, section 5.6; seconds may be left out. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
const DAY_LENGTH = '2026-11-22'.length;
/** RFC 9110, sections 5.1 and 5.5. */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/** Checks that say what a member must be. */
const FORMS: readonly {
  readonly member: Member;
  readonly isGood: (text: string) => boolean;
  readonly message: string;
}[] = [
  {
    member: 'route',
    isGood: (text) => ROUTE_NAME.test(text),
    message: 'must be NAMESPACE/NAME, or a NAME in the namespace default',
  },
  {
    member: 'url',
    isGood: (text) => URL_PARTS.test(text),
    message: 'must be an http or https URL, without a fragment',
  },
  {
    member: 'method',
    isGood: (text) => METHODS.includes(text) && text !== 'CONNECT',
    message: 'must be a method of HTTP other than CONNECT, in upper case',
  },
  { member: 'path', isGood: (text) => text.startsWith('/'), message: 'must begin with "/"' },
  {
    member: 'clientAddress',
    isGood: (text) => isIP(text) !== 0,
    message: 'must be an IP address',
  },
  {
    member: 'time',
    isGood: isTime,
    message: 'must be a time with a time zone, such as 2026-11-22T09:00:00Z',
  },
];

/** `Date` takes February 30 for March 2. */
function isTime(text: string): boolean {
  if (!TIME.test(text) || Number.isNaN(Date.parse(text))) return false;
  const day = text.slice(0, DAY_LENGTH);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** Fields that the description of a request decides elsewhere. */
const DECIDED_FIELDS: Readonly<Record<string, string>> = {
  host: 'the host is that of the route or of the URL',
  'content-length': 'the body decides the length',
  'transfer-encoding': 'the body decides the length',
  authorization: 'give the token as one',
  upgrade: 'handshakes of WebSockets are not explained',
};

function formProblems(described: RequestDescription): readonly RequestProblem[] {
  const texts = FORMS.flatMap(({ member, isGood, message }) => {
    const text = described[member];
    return typeof text !== 'string' || isGood(text) ? [] : [{ member, message }];
  });
  const fields = Object.entries(described.headers ?? {}).flatMap(([name, value]) => {
    const message = fieldProblem(name, value);
    return message === undefined ? [] : [{ member: 'headers' as const, message }];
  });
  return [...texts, ...fields];
}

function fieldProblem(name: string, value: string): string | undefined {
  if (!FIELD_NAME.test(name)) return 'has a name that no header field has';
  if (!FIELD_VALUE.test(value)) return `${name} has a value that no header field has`;
  const why = DECIDED_FIELDS[name.toLowerCase()];
  return why === undefined ? undefined : `${name} is not taken: ${why}`;
}

function conflicts(described: RequestDescription): readonly RequestProblem[] {
  const { url, path, tool, prompt, mcpMethod, method } = described;
  const named = (['tool', 'resource', 'prompt'] as const).filter(
    (member) => described[member] !== undefined,
  );
  const [first, second] = named;
  const problems: (RequestProblem | undefined | false)[] = [
    url !== undefined && path !== undefined && { member: 'path', message: 'is part of the URL' },
    second && { member: second, message: `must not be given beside a ${String(first)}` },
    described.arguments !== undefined &&
      (tool ?? prompt) === undefined && {
        member: 'arguments',
        message: 'are those of a tool or of a prompt, which is missing',
      },
    isMcp(described) &&
      method !== undefined &&
      method !== 'POST' && { member: 'method', message: 'must be POST for a message of MCP' },
    ...METHODS_OF_MCP.map(
      ({ member, methods }) =>
        described[member] !== undefined &&
        mcpMethod !== undefined &&
        !methods.test(mcpMethod) && {
          member: 'mcpMethod' as const,
          message: `${mcpMethod} has no ${member}`,
        },
    ),
  ];
  return problems.filter((problem) => problem !== undefined && problem !== false);
}

const METHODS_OF_MCP = [
  { member: 'tool', methods: /^tools\/call$/ },
  { member: 'prompt', methods: /^prompts\/get$/ },
  { member: 'resource', methods: /^resources\// },
] as const;

/** Whether a description has a JSON-RPC message. */
export function isMcp({ mcpMethod, tool, resource, prompt }: RequestDescription): boolean {
  return (mcpMethod ?? tool ?? resource ?? prompt) !== undefined;
}
