import type { IncomingMessage } from 'node:http';

import type { GithubAccount, GithubState } from './github-state.ts';

/** A response of the REST API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Answers at a path below the address of the REST API. */
export function apiAnswer(message: IncomingMessage, path: string, github: GithubState): ApiAnswer {
  const malformed = malformedRequest(message);
  if (malformed !== undefined) return malformed;
  if (github.isLimited) return { ...refused(403), headers: { 'x-ratelimit-remaining': '0' } };
  const token = /^Bearer (\S+)$/.exec(message.headers.authorization ?? '')?.[1] ?? '';
  const issued = github.accessTokens.get(token);
  const account = issued && github.accounts.get(issued.login);
  if (issued === undefined || account === undefined) return refused(401);
  if (path === '/user') return { status: 200, body: userOf(account) };
  const mayReadEmails = issued.scopes.includes('user:email');
  if (path === '/user/emails' && mayReadEmails) return { status: 200, body: account.emails };
  return refused(404);
}

function malformedRequest({ method, headers }: IncomingMessage): ApiAnswer | undefined {
  if (headers['user-agent'] === undefined) return refused(403);
  if (headers.accept !== 'application/vnd.github+json') return refused(415);
  if (headers['x-github-api-version'] !== '2022-11-28') return refused(400);
  return method === 'GET' ? undefined : refused(404);
}

/** The profile has the public address, and what else the user wrote into it. */
function userOf({ emails, ...account }: GithubAccount): object {
  const email = emails.find(({ visibility }) => visibility === 'public')?.email ?? null;
  return { ...account, email, type: 'User', company: '@admins' };
}

function refused(status: number): ApiAnswer {
  return { status, body: { message: 'Refused', status: String(status) } };
}
