import { parseStrictJson, StrictJsonError } from '../../../proxy/json/strict-json.ts';
import { isRecord } from '../../../shared/runtime/is-record.ts';
import type { Arguments } from '../../arguments.ts';
import { requestProblems, userProblems } from '../../explain/check-description.ts';
import type { RequestDescription, UserDescription } from '../../explain/request-description.ts';
import { DEFAULT_NAMESPACE, fullRouteName } from '../../explain/route-name.ts';
import { readNamespaceFlags, type NamespaceChoice } from '../../flags/cluster-flags.ts';
import { UsageError } from '../../usage-error.ts';

/** Who makes the request. */
export type CallerFlags =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly user: UserDescription }
  /** The claims are still in a file; `-` is the standard input. */
  | { readonly kind: 'claims-file'; readonly file: string; readonly user: UserDescription }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'token-file'; readonly file: string };

/** Values of the flags of `gatehouse explain`. */
export interface ExplainOptions {
  /** The namespace of the Routes in a cluster; undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly request: RequestDescription;
  readonly caller: CallerFlags;
  readonly isJson: boolean;
  readonly devAllowLoopback: boolean;
}

/**
 * Reads the flags of `gatehouse explain`. `usual` is the namespace of Routes that are given without one. Throws
 * `UsageError`.
 */
export function readExplainOptions(flags: Arguments, usual = DEFAULT_NAMESPACE): ExplainOptions {
  const output = flags.text('output');
  if (output !== 'text' && output !== 'json') throw new UsageError('--output is text or json');
  const choice = readNamespaceFlags(flags);
  const route = routeName(flags, choice, usual);
  const request = readRequest(flags, route);
  const [problem] = requestProblems(request);
  if (problem !== undefined) {
    throw new UsageError(`${FLAG_OF[problem.member]} ${problem.message}`);
  }
  return {
    namespace: namespaceOf({ request, choice, usual }),
    request,
    caller: readCaller(flags),
    isJson: output === 'json',
    devAllowLoopback: flags.isOn('dev-allow-loopback'),
  };
}

/** The flag of a member whose name differs. */
const FLAG_OF: Readonly<Record<keyof RequestDescription, string>> = {
  route: '--route',
  url: '--url',
  method: '--method',
  path: '--path',
  headers: '--header',
  clientAddress: '--client-address',
  time: '--time',
  mcpMethod: '--mcp-method',
  tool: '--tool',
  arguments: '--arguments',
  resource: '--resource',
  prompt: '--prompt',
};

/** Returns where to look: a URL alone may be of any Route. */
function namespaceOf({
  request: { route, url },
  choice,
  usual,
}: {
  readonly request: RequestDescription;
  readonly choice: NamespaceChoice;
  readonly usual: string;
}): string | undefined {
  if (choice.kind === 'all') return undefined;
  if (choice.kind === 'one') return choice.namespace;
  if (route !== undefined) return route.split('/')[0];
  return url === undefined ? usual : undefined;
}

function readRequest(flags: Arguments, route: string | undefined): RequestDescription {
  const headers = flags.list('header');
  const given = flags.text('arguments');
  const texts = {
    ...{ url: flags.text('url'), method: flags.text('method'), path: flags.text('path') },
    ...{ clientAddress: flags.text('client-address'), time: flags.text('time') },
    ...{ mcpMethod: flags.text('mcp-method'), tool: flags.text('tool') },
    ...{ resource: flags.text('resource'), prompt: flags.text('prompt'), route },
  };
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
    ...(headers.length > 0 && { headers: readHeaders(headers) }),
    ...(given !== undefined && { arguments: readObject(given, '--arguments') }),
  };
}

function routeName(flags: Arguments, choice: NamespaceChoice, usual: string): string | undefined {
  const route = flags.text('route');
  if (route === undefined) return undefined;
  const namespace = choice.kind === 'one' ? choice.namespace : undefined;
  const name = fullRouteName(route, namespace ?? usual);
  if (namespace === undefined || name.startsWith(`${namespace}/`)) return name;
  throw new UsageError('--namespace is not the namespace in --route');
}

function readHeaders(texts: readonly string[]): Readonly<Record<string, string>> {
  const headers = texts.map(readHeader);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  if (names.size < headers.length) throw new UsageError('--header names a field twice');
  return Object.fromEntries(headers);
}

function readHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([^:]+):[\t ]*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError('--header is NAME:VALUE');
  return [name, value];
}

/**
 * Parses a JSON object as strictly as the gateway parses a message: two members of one name would be one
 * here. `where` is for the message. Throws `UsageError`, without the text.
 */
export function readObject(text: string, where: string): Readonly<Record<string, unknown>> {
  const value = strictJson(text, where);
  if (isRecord(value)) return value;
  throw new UsageError(`${where} is not a JSON object`);
}

function strictJson(text: string, where: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (error instanceof StrictJsonError && error.isJson) {
      throw new UsageError(`${where} ${error.message}`);
    }
    return undefined;
  }
}

function jsonOr(otherwise: unknown, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

function readCaller(flags: Arguments): CallerFlags {
  const user = readUser(flags);
  const [token, tokenFile] = [flags.text('token'), flags.text('token-file')];
  const claimsFile = flags.text('claims');
  const isUser = claimsFile !== undefined || Object.keys(user).length > 0;
  if (Number(isUser) + Number(token !== undefined) + Number(tokenFile !== undefined) > 1) {
    throw new UsageError('a request has either a user or one token');
  }
  if (token !== undefined) return { kind: 'token', token };
  if (tokenFile !== undefined) return { kind: 'token-file', file: tokenFile };
  if (claimsFile !== undefined) return { kind: 'claims-file', file: claimsFile, user };
  if (!isUser) return { kind: 'anonymous' };
  return { kind: 'user', user: checkedUser(user) };
}

/** Returns a user that can be one. Throws `UsageError`. */
export function checkedUser(user: UserDescription): UserDescription {
  const [problem] = userProblems(user);
  if (problem === undefined) return user;
  throw new UsageError(`--${problem.member} ${problem.message}`);
}

function readUser(flags: Arguments): UserDescription {
  const [user, email] = [flags.text('user'), flags.text('email')];
  const groups = flags.list('groups').flatMap((names) => names.split(/[ \t]*,[ \t]*/));
  if (groups.includes('')) throw new UsageError('--groups has an empty name');
  const claims = flags.list('claim').map(readClaim);
  return {
    ...(user !== undefined && { user }),
    ...(email !== undefined && { email }),
    ...(groups.length > 0 && { groups }),
    ...(claims.length > 0 && { claims: Object.fromEntries(claims) }),
  };
}

function readClaim(text: string): readonly [string, unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError('--claim is NAME=VALUE');
  return [name, jsonOr(value, value)];
}
