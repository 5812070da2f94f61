import { isRecord } from '../../shared/runtime/is-record.ts';
import { member } from '../json/json-object.ts';
import type { ProviderCalls, ProviderOperation } from './provider-calls.ts';

/** Timeout of every request to GitHub. */
const TIMEOUT_MS = 10_000;

/** GitHub refuses requests without one. */
const USER_AGENT = 'gatehouse';

/** What every request to the REST API says. Without a version GitHub takes the oldest. */
export const GITHUB_API_HEADERS = {
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
} as const;

/** A request to GitHub. Without a body it is a GET. */
export interface GithubRequest {
  readonly operation: ProviderOperation;
  readonly headers: Readonly<Record<string, string>>;
  readonly form?: URLSearchParams;
  readonly json?: object;
}

/** A response of GitHub. */
export interface GithubResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined if it is something else. */
  readonly body: unknown;
}

/** GitHub refused a request. The message has nothing of the request, nor of the response but its code. */
export class GithubRefusedError extends Error {
  override readonly name = 'GithubRefusedError';
  /** Of letters and `_`: anybody can send another one to the callback, and it is logged. */
  readonly code: string;

  constructor(code: string) {
    const known = /^[a-z_]{1,64}$/.test(code) ? code : 'malformed code';
    super(`GitHub refused the request: ${known}`);
    this.code = known;
  }
}

/** Sends a request to GitHub. Rejects if there is no response, or a redirect. */
export async function requestGithub(
  calls: ProviderCalls,
  url: string,
  { operation, headers, form, json }: GithubRequest,
): Promise<GithubResponse> {
  const body = json === undefined ? form : JSON.stringify(json);
  const type = json === undefined ? {} : { 'content-type': 'application/json' };
  const fetch = calls.fetchFor(() => operation);
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'user-agent': USER_AGENT, ...type, ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: parsed(await response.text()),
  };
}

/** Returns a member of a body; undefined if the body is not an object, or lacks it. */
export function memberIn(body: unknown, name: string): unknown {
  return isRecord(body) ? member(body, name) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
